import type { Command } from 'commander';
import { type PetStatus, petFault } from '../../../domain/pet.ts';
import { petJson } from '../../../domain/pet-json.ts';
import { visible } from '../../../domain/visible.ts';
import { int64, statusOption } from '../arguments.ts';
import { writeLong } from '../console.ts';
import { counted, duration } from '../format.ts';
import { type CommandOptions, PAGE_BY_PAGE } from '../options.ts';
import { Progress } from '../progress.ts';
import { withStore } from '../store.ts';

interface Flags {
  readonly status?: PetStatus;
  readonly follow?: boolean;
  readonly after?: bigint;
}

/** How many pets that break a rule are named. */
const NAMED = 10;

export function defineExport(program: Command, options: CommandOptions): void {
  program
    .command('export')
    .description('write all pets to standard output, one in JSON per line')
    .addOption(statusOption('only pets with this status'))
    .option('--follow', 'go on with each new pet, until Ctrl-C')
    .option('--after <id>', 'with --follow, only pets with a greater id', int64)
    .action(async (flags: Flags, command: Command) => {
      if (flags.follow) return await followPets(flags, options);
      if (flags.after !== undefined) command.error('--after requires --follow');
      await exportPets(flags, options);
    });
}

async function exportPets({ status }: Flags, options: CommandOptions): Promise<void> {
  const { console, signal, databaseUrl, isServer } = options;
  const progress = new Progress(console);
  const invalid: string[] = [];
  let count = 0;
  const all = (write: (text: string) => Promise<void>) =>
    withStore(options, 'export', async (store) => {
      for await (const pets of store.exportPets({ status }, { signal })) {
        signal.throwIfAborted();
        await write(pets.map((pet) => `${petJson(pet)}\n`).join(''));
        count += pets.length;
        for (const pet of pets) {
          const fault = petFault(pet);
          if (fault !== undefined) invalid.push(visible(`pet ${pet.id}: ${fault}`));
        }
        if (console.outColumns() === undefined) progress.show({ title: 'Exporting', count });
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
      if (await isServer(databaseUrl)) console.err(PAGE_BY_PAGE);
    });
  await writeLong(console, signal, all, 'the export is not complete').finally(() => progress.end());
}

/** Writes each pet as soon as it is visible. */
async function followPets({ status, after }: Flags, options: CommandOptions): Promise<void> {
  const { console, signal } = options;
  await writeLong(console, signal, (write) =>
    withStore(options, 'export', async (store) => {
      for await (const pet of store.followPets({ status, after, signal })) await write(`${petJson(pet)}\n`);
    }),
  );
}
