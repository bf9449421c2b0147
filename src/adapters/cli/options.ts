/** The functions and values that the program passes to its commands. */

import type { AnimalStore } from '../../application/animal-store.ts';
import type { IssuedApiKey } from '../../application/api-keys.ts';
import type { Problem, Restored, RestoreOptions } from '../../application/ports/maintenance.ts';
import type { Console } from './console.ts';

export type Work = 'backup' | 'export' | 'import' | 'keys' | 'new-epoch' | 'pets';

export interface CliOptions {
  readonly version: string;
  readonly console: Console;
  /** Aborted when the user or the operating system asks the process to stop. */
  readonly signal: AbortSignal;
  /** The environment variables of `serve`, and the formats of a database URL, for the help. */
  readonly settings: readonly { name: string; fallback: string | undefined; meaning: string }[];
  readonly databaseUrls: readonly string[];
  startService(values: ServeValues): Promise<RunningService>;
  /** Opens the store at a URL, by default the URL in the environment. Rejects if the storage does not support `work`. */
  openStore(
    databaseUrl: string | undefined,
    options: { readonly mustExist: boolean; readonly work: Work; readonly onlyReads: boolean },
  ): Promise<AnimalStore>;
  /**
   * Opens another store, only for reading, and returns it with its location, which contains no password. Resolves with `undefined`
   * when `address` is not the address of a store. Rejects when `databaseUrl` names the same store.
   */
  openSource(
    address: string,
    databaseUrl: string | undefined,
  ): Promise<{ store: AnimalStore; place: string } | undefined>;
  /** Replaces the store with a backup. Rejects when the store is in use, or when `file` is not a backup. */
  restoreStore(databaseUrl: string | undefined, file: string, options: RestoreOptions): Promise<Restored>;
  /** Examines the settings, the store and a backup of it. Changes nothing, and creates no store. */
  diagnose(databaseUrl: string | undefined, backup?: string): Promise<DoctorReport>;
  openApiDocument(): Promise<string>;
}

export interface CommandOptions extends CliOptions {
  /** The value of `--database-url`. */
  readonly databaseUrl: string | undefined;
}

/** The values of the options of `serve`. A missing value is read from the environment. */
export interface ServeValues {
  readonly databaseUrl?: string | undefined;
  readonly host?: string | undefined;
  readonly port?: string | undefined;
  /** Whether nobody would see a first key, because standard output is the null device. */
  readonly isDiscarded?: boolean;
}

export interface RunningService {
  readonly url: string;
  /** The location of the store: an absolute path, or a server and a database. */
  readonly store: string;
  /** The API key that the server created and that is to be shown. */
  readonly firstKey?: IssuedApiKey;
  /** Whether the configuration contains API keys, so that clients need no stored key. */
  readonly hasConfiguredKeys: boolean;
  stop(): Promise<void>;
}

export interface DoctorReport {
  readonly node: string;
  /** The environment variables that are set, without secrets. */
  readonly settings: readonly { readonly name: string; readonly value: string }[];
  /** All problems, including those of the database and of the backup. */
  readonly problems: readonly Problem[];
  /** The facts about the database, by their names; `null` when it could not be examined. */
  readonly database: object | null;
  /** The facts about the backup that the user has named; `null` without a backup, or when it could not be checked. */
  readonly backup: object | null;
}
