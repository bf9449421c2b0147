import { asAnimalStoreError, type ErrorCode } from '../domain/errors.ts';
import { checkOptions, type OptionRules } from './arguments.ts';
import { LIMIT_MAX } from './list-pets.ts';
import { nextTurn, pause } from './pause.ts';
import type { CallOptions } from './ports/pet-repository.ts';
import type { Following } from './store-options.ts';

/** In milliseconds. */
const DEFAULT_INTERVAL = 1000;
/** The longest wait for a `Retry-After`: after a longer one, the server would be back long before. */
const LONGEST_DELAY = 60_000;

/** After one of these errors, a later read can succeed. */
const TEMPORARY: readonly ErrorCode[] = ['overloaded', 'rate_limited', 'storage_unavailable'];

/** A page, and the position after which the next one begins. */
export interface Page<Item, Position> {
  readonly items: readonly Item[];
  readonly next: Position | undefined;
  readonly more: boolean;
}

type Followed = Following & { readonly after?: unknown };

/**
 * Yields items as they become visible, for ever. When the storage is unavailable after the first read, waits and goes on. The
 * position after the last page is all that a follower must remember.
 */
export async function* follow<Item, Options extends Followed>(
  readPage: (
    query: Omit<Options, 'signal' | 'interval'> & { readonly limit: number },
    options: CallOptions,
  ) => Promise<Page<Item, Options['after']>>,
  isClosed: () => boolean,
  options: Options,
  rules: OptionRules<Options>,
): AsyncGenerator<Item, never, undefined> {
  const { signal, interval = DEFAULT_INTERVAL, ...query } = checkOptions(options, rules);
  let { after } = options;
  let hasRead = false;
  while (true) {
    let delay = interval;
    let items: readonly Item[] = [];
    try {
      const page = await readPage({ ...query, after, limit: LIMIT_MAX }, { signal });
      items = page.items;
      after = page.next ?? after;
      hasRead = true;
      if (page.more) delay = 0;
    } catch (error) {
      const { code, retryAfter = 0 } = asAnimalStoreError(error) ?? {};
      const isTemporary = code !== undefined && TEMPORARY.includes(code);
      if (!hasRead || !isTemporary || isClosed()) throw error;
      delay = Math.max(interval, Math.min(retryAfter * 1000, LONGEST_DELAY));
    }
    yield* items;
    // The pause lets other pending work run while many pages follow each other.
    await (delay === 0 ? nextTurn() : pause(delay, signal));
    signal?.throwIfAborted();
  }
}
