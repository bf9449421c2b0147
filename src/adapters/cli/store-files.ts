import { FileError } from './errors.ts';
import { type FileReference, isSameFile } from './files.ts';
import type { CliOptions } from './options.ts';

/**
 * Throws a {@link FileError} if `file` belongs to the store, because a command must not read or overwrite a file of
 * the store.
 */
export function refuseStoreFile(file: FileReference, name: string, storeFiles: readonly string[]): void {
  if (storeFiles.some((own) => isSameFile(file, own))) throw new FileError(`${name} belongs to the store`);
}

/**
 * Returns a copy of the options whose `openStore` and `startService` reject if standard output is redirected to a file
 * of the store, as in `export >> pets.db`.
 */
export function withoutOutputToStore(options: CliOptions): CliOptions {
  const check = async (databaseUrl: string | undefined): Promise<void> => {
    // An invalid configuration is ignored here, because opening the store reports the fault.
    const files = await options.storeFiles(databaseUrl).catch(() => []);
    const { outDescriptor } = options.console;
    if (outDescriptor !== undefined) refuseStoreFile(outDescriptor, 'standard output', files);
  };
  return {
    ...options,
    async startService(values) {
      await check(values.databaseUrl);
      return options.startService(values);
    },
    async openStore(databaseUrl, how) {
      await check(databaseUrl);
      return options.openStore(databaseUrl, how);
    },
  };
}
