import { checkArgument, checkOptions, STRING } from './arguments.ts';
import type { BackupOptions } from './ports/maintenance.ts';
import { BACKUP_OPTIONS, type StoreStorage, supported } from './store-options.ts';

/** Copies a store into a file, as `AnimalStore.backup` describes. */
export async function backUp(
  storage: StoreStorage,
  file: string,
  options: BackupOptions = {},
): Promise<void> {
  checkArgument('file', file, STRING);
  checkOptions(options, BACKUP_OPTIONS);
  await supported(storage.backup, 'backup').call(storage, file, options);
}
