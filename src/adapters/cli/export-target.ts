import type { Console } from './console.ts';
import { CommandError, FileError, reasonOf } from './errors.ts';
import { pathToWrite } from './files.ts';
import { PlacedFile } from './placed-file.ts';
import { refuseStoreFile } from './store-files.ts';

/** Where an export is written to. */
export interface ExportTarget {
  /** Whether each chunk is shown on a terminal. */
  readonly isTerminal: boolean;
  write(chunk: string | Buffer): Promise<void>;
  /** Completes the export. A file gets its name only now. */
  complete(): Promise<void>;
  /** Removes an incomplete file. */
  abandon(): Promise<void>;
}

export function standardOutput({ out, outRaw, outScreen }: Console): ExportTarget {
  const isTerminal = outScreen.columns !== undefined;
  return {
    isTerminal,
    write: (chunk) => (isTerminal ? out(String(chunk)) : outRaw(chunk)),
    complete: async () => {},
    abandon: async () => {},
  };
}

/**
 * Returns the file of the option `--output` as a target. Throws a {@link FileError}, before anything is written, when
 * the file belongs to the store, is not a regular file, or exists and `force` is not set.
 */
export function outputFile(name: string, force: boolean, storeFiles: readonly string[]): ExportTarget {
  const option = '--output';
  refuseStoreFile(name, `${option}: ${name}`, storeFiles);
  const path = pathToWrite(name, option);
  const file = new PlacedFile(path);
  if (file.replacesFile && !force) throw new FileError(`${name} exists already: --force replaces it`);
  const attempt = async (work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      throw new CommandError(`cannot write ${name}: ${reasonOf(error)}`);
    }
  };
  return {
    isTerminal: false,
    write: (chunk) => attempt(() => file.write(chunk)),
    complete: () =>
      attempt(async () => {
        // Without pets, nothing has been written, and the file does not exist yet.
        await file.write('');
        await file.place();
        await file.keep();
      }),
    abandon: () => attempt(() => file.takeBack()),
  };
}
