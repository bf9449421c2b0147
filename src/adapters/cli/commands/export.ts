import type { Command } from 'commander';
import { type PetStatus, petFault } from '../../../domain/pet.ts';
import { petJson } from '../../../domain/pet-json.ts';
import { visible } from '../../../domain/visible.ts';
import { int64, statusOption } from '../arguments.ts';
import { writeLong } from '../console.ts';
import { counted, duration } from '../format.ts';
import type { CommandOptions } from '../options.ts';
import { Progress } from '../progress.ts';
import { withStore } from '../store.ts';

/** How many pets that break a rule are named. */
const NAMED = 10;

export function defineExport(program: Command, options: CommandOptions): void {
  program
    .command('export')
    .description('write all pets to standard output, one in JSON per line')
    .addOption(statusOption('only pets with this status'))
    .option('--follow', 'go on with each new pet, until Ctrl-C')
    .option('--after <id>', 'with --follow, only pets with a greater id', int64)
    .action(async ({ status, follow, after }, command) => {
      if (after !== undefined && !follow) command.error('--after requires --follow');
      if (!follow) return await exportPets(status, options);
      const { signal } = options;
      await writeLong(options, undefined, (write) =>
        withStore(options, 'export', async (store) => {
          for await (const pet of store.followPets({ status, after, signal }))
            await write(`${petJson(pet)}\n`);
        }),
      );
    });
}

async function exportPets(status: PetStatus | undefined, options: CommandOptions): Promise<void> {
  const { console, signal } = options;
  const progress = new Progress(console);
  const invalid: string[] = [];
  let count = 0;
  await writeLong(options, 'the export is not complete', (write) =>
    withStore(options, 'export', async (store) => {
      for await (const pets of store.exportPets({ status }, { signal })) {
        signal.throwIfAborted();
        await write(pets.map((pet) => `${petJson(pet)}\n`).join(''));
        count += pets.length;
        for (const pet of pets) {
          const fault = petFault(pet);
          if (fault !== undefined) invalid.push(visible(`pet ${pet.id}: ${fault}`));
        }
        if (console.outColumns() === undefined) progress.show('Exporting', count);
      }
      progress.end();
      console.err(`Exported ${counted(count, 'pet')} in ${duration(progress.elapsed)}.\n`);
      if (invalid.length > 0) {
        const named = [...invalid.slice(0, NAMED), ...(invalid.length > NAMED ? ['and more'] : [])].join(
          '\n',
        );
        const changed = counted(invalid.length, 'pet');
        console.err(`Another program changed ${changed}, which cannot be imported:\n${named}\n`);
      }
    }),
  ).finally(() => progress.end());
}
