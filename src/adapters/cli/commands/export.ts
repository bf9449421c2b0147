import type { Command } from 'commander';
import type { AnimalStore } from '../../../application/animal-store.ts';
import { petFault } from '../../../domain/pet.ts';
import type { PetFilter } from '../../../domain/pet-filter.ts';
import { petJson } from '../../../domain/pet-json.ts';
import { visible } from '../../../domain/visible.ts';
import { int64 } from '../arguments.ts';
import { refuseClosedOutput } from '../console.ts';
import { counted } from '../format.ts';
import type { CommandOptions } from '../options.ts';
import { filterOptions } from '../pet-attributes.ts';
import { READING, untilInterrupted, withStore } from '../store.ts';

export function defineExport(program: Command, options: CommandOptions): void {
  const { console, signal } = options;
  const command = program
    .command('export')
    .description('write all pets to standard output, one in JSON per line');
  for (const option of filterOptions()) command.addOption(option);
  command
    .option('--follow', 'go on with each new pet, until Ctrl-C')
    .option('--after <id>', 'with --follow, only pets with a greater id', int64)
    .action(async ({ follow, after, ...filter }) => {
      if (after !== undefined && !follow) command.error('--after requires --follow');
      refuseClosedOutput(console);
      const followPets = async (store: AnimalStore) => {
        for await (const pet of store.followPets({ ...filter, after, signal }))
          await console.outData(`${petJson(pet)}\n`);
      };
      if (follow) await untilInterrupted(withStore(options, 'export', READING, followPets), signal);
      else await withStore(options, 'export', READING, (store) => exportPets(store, filter, options));
    });
}

/** Writes the pets, and prints a message for each pet that breaks a rule. Another program can have stored such a pet. */
async function exportPets(
  store: AnimalStore,
  filter: PetFilter,
  { console, signal }: CommandOptions,
): Promise<void> {
  let count = 0;
  for await (const pets of store.exportPets(filter, { signal })) {
    signal.throwIfAborted();
    await console.outData(pets.map((pet) => `${petJson(pet)}\n`).join(''));
    count += pets.length;
    for (const pet of pets) {
      const fault = petFault(pet);
      if (fault !== undefined) console.err(`${visible(`pet ${pet.id} cannot be imported: ${fault}`)}\n`);
    }
    if (!console.isTerminal) console.progress(`Exporting ${counted(count, 'pet', 'pets')}`);
  }
  console.err(`Exported ${counted(count, 'pet', 'pets')}.\n`);
}
