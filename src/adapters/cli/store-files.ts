import type { Console } from './console.ts';
import { UsageError } from './errors.ts';
import { type FileReference, isSameFile } from './files.ts';
import type { CliOptions } from './options.ts';

/** Refuses a file that a command would read or write and that belongs to the store. */
export function refuseStoreFile(file: FileReference, name: string, storeFiles: readonly string[]): void {
  if (storeFiles.some((own) => isSameFile(file, own))) throw new UsageError(`${name} is the store itself`);
}

/** The same options, but no command works on a store whose file is its standard output: `export >> pets.db`. */
export function keepingOutputOff(options: CliOptions): CliOptions {
  const refuse = async (databaseUrl: string | undefined): Promise<void> => {
    // What is wrong with the configuration is told in whole when the store is opened.
    const files = await options.storeFiles(databaseUrl).catch(() => []);
    const { outDescriptor }: Console = options.console;
    if (outDescriptor !== undefined) refuseStoreFile(outDescriptor, 'standard output', files);
  };
  return {
    ...options,
    async startService(databaseUrl) {
      await refuse(databaseUrl);
      return options.startService(databaseUrl);
    },
    async openStorage(databaseUrl, how) {
      await refuse(databaseUrl);
      return options.openStorage(databaseUrl, how);
    },
  };
}
