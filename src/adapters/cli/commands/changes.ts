import { type Command, Option } from 'commander';
import type { AnimalStore } from '../../../application/animal-store.ts';
import type { Change } from '../../../application/change-calls.ts';
import { LIMIT_MAX } from '../../../application/list-pets.ts';
import { petJson } from '../../../domain/pet-json.ts';
import { writeLong } from '../console.ts';
import type { CommandOptions } from '../options.ts';
import { withStore } from '../store.ts';

interface Flags {
  readonly after?: string;
  readonly follow?: boolean;
  readonly newEpoch?: boolean;
}

export function defineChanges(program: Command, options: CommandOptions): void {
  const newEpoch = new Option(
    '--new-epoch',
    'make all followers begin again, after a restore by other programs',
  );
  program
    .command('changes')
    .description('write the newest state of each pet, also of removed ones, in JSON per line')
    .option('--after <cursor>', 'only states after the one with this cursor')
    .option('--follow', 'go on with each new state, until Ctrl-C')
    .addOption(newEpoch.conflicts(['after', 'follow']))
    .action(async (flags: Flags) => {
      if (flags.newEpoch) await beginEpoch(options);
      else await writeChanges(flags, options);
    });
}

async function beginEpoch(options: CommandOptions): Promise<void> {
  await withStore(options, 'new-epoch', (store) => store.beginEpoch());
  await options.console.out('A new epoch has begun: every follower must begin again.\n');
}

async function writeChanges({ after, follow = false }: Flags, options: CommandOptions): Promise<void> {
  const { signal } = options;
  const outcome = follow ? 'the reader has stalled' : 'the list is not complete';
  const writing = writeLong(options, outcome, (write) =>
    withStore(options, 'pets', async (store) => {
      if (follow)
        for await (const change of store.followChanges({ after, signal })) await write(lineOf(change));
      else
        for await (const changes of pagesOf(store, after, signal)) await write(changes.map(lineOf).join(''));
    }),
  );
  await writing.catch((error: unknown) => {
    if (!(follow && signal.aborted)) throw error;
  });
}

async function* pagesOf(store: AnimalStore, after: string | undefined, signal: AbortSignal) {
  for (let position = after, more = true; more; ) {
    const page = await store.listChanges({ after: position, limit: LIMIT_MAX }, { signal });
    yield page.changes;
    position = page.next;
    more = page.more;
  }
}

/** The form of a change in `GET /v1/changes`. */
function lineOf(change: Change): string {
  const state =
    change.pet === undefined
      ? `"removed":${change.removed}`
      : `"pet":${petJson(change.pet)},"etag":${JSON.stringify(change.etag)}`;
  return `{"cursor":${JSON.stringify(change.cursor)},${state}}\n`;
}
