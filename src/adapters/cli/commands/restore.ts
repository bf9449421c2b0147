import type { Command } from 'commander';
import type { Restored } from '../../../application/ports/maintenance.ts';
import { visible } from '../../../domain/visible.ts';
import { file, JSON_RESULT } from '../arguments.ts';
import { printResult } from '../console.ts';
import { counted } from '../format.ts';
import type { CommandOptions } from '../options.ts';

export function defineRestore(program: Command, options: CommandOptions): void {
  program
    .command('restore')
    .description('replace the store by a backup, while no server runs')
    .argument('<file>', 'a file that the command backup has written', file)
    .option('--force', 'replace a store that has pets, or that cannot be read')
    .option(...JSON_RESULT)
    .action(async (file, { force, json }) => {
      const { console, signal, databaseUrl, restoreStore } = options;
      const onProgress = (share: number) => console.progress('Copying', share);
      const restored = await restoreStore(databaseUrl, file, { overwrite: force, onProgress, signal });
      const { location: store, bytes, pets, apiKeys, lastId, ...rest } = restored;
      const contents = `${counted(pets, 'pet', 'pets')} and ${counted(apiKeys, 'key')}`;
      const text = `Restored ${store} from ${file}: ${contents}, ids go on after ${lastId}.`;
      const members = { store, bytes, pets, apiKeys, lastId: String(lastId), ...rest };
      for (const notice of noticesOf(restored)) console.err(`${visible(notice)}\n`);
      await printResult(console, text, members, json);
    });
}

/** Describes what the restore loses and brings back, where the replaced store is kept, and the problems found. */
function noticesOf({ lost, revivedPets, revivedKeys, setAside, problems }: Restored): string[] {
  const { pets = 0, apiKeys = 0 } = lost ?? {};
  const gone = [pets && counted(pets, 'pet', 'pets'), apiKeys && counted(apiKeys, 'key')]
    .filter(Boolean)
    .join(' and ');
  return [
    ...(gone ? [`The backup lacks ${gone} of the replaced store.`] : []),
    ...(revivedPets
      ? [`The backup has ${counted(revivedPets, 'pet', 'pets')} that the replaced store had removed.`]
      : []),
    ...revivedKeys.map(
      ({ id, name, prefix }) =>
        `Key ${id} (${name}, ${prefix}…) is valid again or for longer: to revoke it, run animal-store keys revoke ${id}, with the same settings`,
    ),
    ...(lost && setAside.length === 0
      ? ['The replaced store had the same pets and keys, so the one kept before it stays.']
      : []),
    ...setAside.map((path) => `The replaced store is kept in ${path}`),
    ...problems.map(({ severity, message }) => `${severity}: ${message}`),
  ];
}
