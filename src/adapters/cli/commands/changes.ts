import { type Command, Option } from 'commander';
import type { AnimalStore } from '../../../application/animal-store.ts';
import type { Change } from '../../../application/change-calls.ts';
import { LIMIT_MAX } from '../../../application/list-pets.ts';
import { petJson } from '../../../domain/pet-json.ts';
import { changeCursor } from '../arguments.ts';
import { printResult, refuseClosedOutput } from '../console.ts';
import type { CommandOptions } from '../options.ts';
import { READING, untilInterrupted, withStore } from '../store.ts';

export function defineChanges(program: Command, options: CommandOptions): void {
  const { console, signal } = options;
  const newEpoch = new Option('--new-epoch', 'make followers begin again, after a restore by other programs');
  program
    .command('changes')
    .description('write the newest state of each pet, also of removed ones, in JSON per line')
    .option('--after <cursor>', 'only states after the one with this cursor', changeCursor)
    .option('--follow', 'go on with each new state, until Ctrl-C')
    .addOption(newEpoch.conflicts(['after', 'follow']))
    .action(async ({ after, follow, newEpoch: isNewEpoch }) => {
      if (isNewEpoch) {
        await withStore(options, 'new-epoch', {}, (store) => store.beginEpoch());
        return await printResult(console, 'A new epoch has begun: every follower must begin again.', {});
      }
      refuseClosedOutput(console);
      const writing = withStore(options, 'pets', READING, async (store) => {
        if (!follow) return await writePages(store, after, options);
        for await (const change of store.followChanges({ after, signal }))
          await console.outData(lineOf(change));
      });
      await (follow ? untilInterrupted(writing, signal) : writing);
    });
}

async function writePages(
  store: AnimalStore,
  start: string | undefined,
  { console, signal }: CommandOptions,
): Promise<void> {
  for (let [after, hasMore] = [start, true]; hasMore; ) {
    const { changes, next, more } = await store.listChanges({ after, limit: LIMIT_MAX }, { signal });
    await console.outData(changes.map(lineOf).join(''));
    [after, hasMore] = [next, more];
  }
}

/** Formats a change as `GET /v1/changes` does. */
function lineOf(change: Change): string {
  const state =
    change.pet === undefined
      ? `"removed":${change.removed}`
      : `"pet":${petJson(change.pet)},"etag":${JSON.stringify(change.etag)}`;
  return `{"cursor":${JSON.stringify(change.cursor)},${state}}\n`;
}
