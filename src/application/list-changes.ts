import { AnimalStoreError, invalidRequest } from '../domain/errors.ts';
import { parseInt64 } from '../domain/int64.ts';
import type { Pet } from '../domain/pet.ts';
import { LIMIT_DEFAULT, limitFault } from './list-pets.ts';
import type { PetChanges } from './ports/pet-changes.ts';
import type { CallOptions } from './ports/pet-repository.ts';

/** The query of {@link ListChanges}. */
export interface ChangesPageQuery {
  /** The cursor of a change, or the `next` of an earlier page: the new page begins after it. Default: the first page. */
  readonly after?: string | undefined;
  /** The maximum number of changes in the page, with the same range and default as `PetPageQuery.limit`. */
  readonly limit?: number | undefined;
}

/** The newest state of a pet, or the id of a removed pet. */
export type PetState =
  | { readonly cursor: string; readonly pet: Pet; readonly etag?: string; readonly removed?: undefined }
  | { readonly cursor: string; readonly removed: bigint; readonly pet?: undefined };

/** One page of the newest states, in the order of the writes. */
export interface ChangesList<T extends PetState = PetState> {
  readonly changes: readonly T[];
  /** The cursor of the end of the page. Missing only if the store is on another server and has never had a pet. */
  readonly next: string | undefined;
  readonly more: boolean;
}

/** An epoch and a revision. Clients do not depend on this format: they accept any 1 to 64 visible ASCII characters. */
const CURSOR = /^([0-9a-f]{16})-(\d{1,19})$/;

/** The use case of `GET /changes`: lists the newest state of each pet, in the order of all writes, one page at a time. */
export class ListChanges {
  readonly #changes: PetChanges;

  constructor(changes: PetChanges) {
    this.#changes = changes;
  }

  /**
   * Rejects with `invalid_request` for an invalid query. Rejects with `restart_required` when the cursor is of another epoch, or
   * contains a revision that the store has not assigned yet.
   */
  async execute(query: ChangesPageQuery = {}, options?: CallOptions): Promise<ChangesList> {
    const { limit = LIMIT_DEFAULT, after } = query;
    const fault = limitFault(limit);
    if (fault !== undefined) throw invalidRequest(fault);
    const from = after === undefined ? undefined : readCursor(after);
    const page = await this.#changes.list({ limit, after: from?.revision ?? 0n }, options);
    const { epoch, versions, more } = page;
    if (from !== undefined && (from.epoch !== epoch || from.revision > page.lastNumber)) {
      const reason = 'the cursor is of another epoch of the store, as after a restore, or was never assigned';
      throw new AnimalStoreError('restart_required', `${reason}: begin without after, and replace the copy`);
    }
    const cursorOf = (revision: bigint): string => `${epoch}-${revision}`;
    const changes = versions.map(({ id, pet, revision }): PetState => {
      const cursor = cursorOf(revision);
      return pet ? { cursor, pet } : { cursor, removed: id };
    });
    return { changes, next: cursorOf(page.upTo), more };
  }
}

function readCursor(cursor: unknown): { readonly epoch: string; readonly revision: bigint } {
  const [, epoch, digits = ''] = (typeof cursor === 'string' && CURSOR.exec(cursor)) || [];
  const revision = parseInt64(digits);
  if (epoch === undefined || revision === undefined)
    throw invalidRequest('after must be a cursor of a change, such as 0123456789abcdef-7');
  return { epoch, revision };
}
