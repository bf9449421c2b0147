import type { AnimalStore } from '../../application/animal-store.ts';
import type { IssuedApiKey } from '../../application/api-keys.ts';
import type { Diagnosis, Problem, Restored, RestoreOptions } from '../../application/ports/maintenance.ts';
import type { Console } from './output/console.ts';

/** The dependencies of the commands. */
export interface CliOptions {
  readonly version: string;
  readonly console: Console;
  /** The signal that is aborted when the user or the operating system asks the process to stop. */
  readonly signal: AbortSignal;
  startService(values: ServeValues): Promise<RunningService>;
  /**
   * Opens the store at `databaseUrl`, or at the URL from the environment if `databaseUrl` is `undefined`. The caller
   * must close the store. Rejects with `invalid_request` when the storage does not support the work.
   */
  openStore(
    databaseUrl: string | undefined,
    options: { readonly mustExist: boolean; readonly work: 'backup' | 'export' | 'import' | 'keys' },
  ): Promise<AnimalStore>;
  /** Whether the database is the address of a server, which can be read page by page only. */
  isServer(databaseUrl: string | undefined): Promise<boolean>;
  /**
   * Resolves with the paths of the files that belong to the store, including files that do not exist yet. No command
   * may use one of these files as its input or output.
   */
  storeFiles(databaseUrl: string | undefined): Promise<readonly string[]>;
  /**
   * Replaces the store by a backup. Rejects with `storage_unavailable` when the store is in use, and with
   * `invalid_request` when `file` is not a backup or the storage does not support restores.
   */
  restoreStore(databaseUrl: string | undefined, file: string, options: RestoreOptions): Promise<Restored>;
  /** Examines the settings and the store. Changes nothing, and creates no store. */
  diagnose(databaseUrl: string | undefined): Promise<DoctorReport>;
  /** Resolves with the OpenAPI document as JSON. */
  openApiDocument(): Promise<string>;
}

export interface CommandOptions extends CliOptions {
  /** The value of `--database-url`, or `undefined` without this option. */
  readonly databaseUrl: string | undefined;
}

export interface JsonFlag {
  readonly json?: boolean;
}

/** The flags of a command that can replace a file or a store. */
export interface ReplaceFlags extends JsonFlag {
  readonly force?: boolean;
}

/** The values of the options of `serve`. A missing value is read from the environment. */
export interface ServeValues {
  readonly databaseUrl?: string | undefined;
  readonly host?: string | undefined;
  readonly port?: string | undefined;
}

export interface RunningService {
  /** The base URL of the API. */
  readonly url: string;
  /** The API key that the server created and that is to be shown. */
  readonly firstKey?: IssuedApiKey;
  /** The path of the file to which the server has written the first key, instead of `firstKey`. */
  readonly firstKeyFile?: string;
  /** Whether the configuration contains API keys, so that clients need no stored key. */
  readonly hasConfiguredKeys: boolean;
  stop(): Promise<void>;
}

export interface DoctorReport {
  /** The version of Node.js, such as `v26.0.0`. */
  readonly node: string;
  /** The limit of open file descriptors, or `undefined` if the limit is unknown. */
  readonly fileDescriptors: number | undefined;
  /** The setting that selects the database, or `undefined` if the setting is invalid. */
  readonly source: string | undefined;
  readonly scheme: string | undefined;
  /** The facts about the database, or `undefined` if the setting of the database is invalid. */
  readonly database: Diagnosis | undefined;
  /** All problems, including those of the database. */
  readonly problems: readonly Problem[];
}
