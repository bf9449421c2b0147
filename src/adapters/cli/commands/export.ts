import type { Command } from 'commander';
import { petFault } from '../../../domain/pet.ts';
import type { PetFilter } from '../../../domain/pet-filter.ts';
import { petJson } from '../../../domain/pet-json.ts';
import { visible } from '../../../domain/visible.ts';
import { int64 } from '../arguments.ts';
import { writeLong } from '../console.ts';
import { counted } from '../format.ts';
import type { CommandOptions } from '../options.ts';
import { filterOptions } from '../pet-attributes.ts';
import { withProgress } from '../progress.ts';
import { readStore } from '../store.ts';

export function defineExport(program: Command, options: CommandOptions): void {
  const command = program
    .command('export')
    .description('write all pets to standard output, one in JSON per line');
  for (const option of filterOptions()) command.addOption(option);
  command
    .option('--follow', 'go on with each new pet, until Ctrl-C')
    .option('--after <id>', 'with --follow, only pets with a greater id', int64)
    .action(async ({ follow, after, ...filter }) => {
      if (after !== undefined && !follow) command.error('--after requires --follow');
      if (!follow) return await exportPets(filter, options);
      const { signal } = options;
      const following = writeLong(options, 'the reader has stalled', (write) =>
        readStore(options, 'export', async (store) => {
          for await (const pet of store.followPets({ ...filter, after, signal }))
            await write(`${petJson(pet)}\n`);
        }),
      );
      await following.catch((error: unknown) => {
        if (!signal.aborted) throw error;
      });
    });
}

/** Names the pets that break a rule, because another program has changed them. */
async function exportPets(filter: PetFilter, options: CommandOptions): Promise<void> {
  const { console, signal } = options;
  const outcome = 'the export is not complete';
  let count = 0;
  await withProgress(options, outcome, (progress) =>
    writeLong(options, outcome, (write) =>
      readStore(options, 'export', async (store) => {
        for await (const pets of store.exportPets(filter, { signal })) {
          signal.throwIfAborted();
          await write(pets.map((pet) => `${petJson(pet)}\n`).join(''));
          count += pets.length;
          for (const pet of pets) {
            const fault = petFault(pet);
            if (fault !== undefined)
              console.err(`${visible(`pet ${pet.id} cannot be imported: ${fault}`)}\n`);
          }
          if (!console.isTerminal) progress(`Exporting ${counted(count, 'pet', 'pets')}`);
        }
      }),
    ),
  );
  console.err(`Exported ${counted(count, 'pet', 'pets')}.\n`);
}
