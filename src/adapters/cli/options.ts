import type { Storage } from '../../application/ports.ts';
import type { Console } from './console.ts';
import type { OpenApiDocument } from './openapi.ts';
import type { StartService } from './serve.ts';

/** What the commands need from outside. */
export interface CliOptions {
  readonly version: string;
  readonly console: Console;
  /** Aborted when the user or the system asks for an end. */
  readonly signal: AbortSignal;
  readonly startService: StartService;
  /** Opens the storage that the URL, or else the environment, names; the caller closes it. */
  readonly openStorage: OpenStorage;
  /** The files that the storage lives in, there or not: no command may write to them. None for one without files. */
  readonly storeFiles: (databaseUrl: string | undefined) => Promise<readonly string[]>;
  readonly openApiDocument: OpenApiDocument;
}

export type OpenStorage = (
  databaseUrl: string | undefined,
  options: { readonly mustExist: boolean },
) => Promise<Storage>;
