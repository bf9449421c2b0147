import type { AnimalStore } from '../../application/animal-store.ts';
import type { IssuedApiKey } from '../../application/api-keys.ts';
import type {
  BackupContents,
  Diagnosis,
  Problem,
  Restored,
  RestoreOptions,
} from '../../application/ports/maintenance.ts';
import type { Console } from './output/console.ts';

export interface CliOptions {
  readonly version: string;
  /** How the user has started the program, for hints, such as `npx animal-store`. */
  readonly program: string;
  readonly console: Console;
  /** The signal that is aborted when the user or the operating system asks the process to stop. */
  readonly signal: AbortSignal;
  startService(values: ServeValues): Promise<RunningService>;
  /** Opens the store at a URL, by default that of the environment. Rejects when the storage does not support the work. */
  openStore(
    databaseUrl: string | undefined,
    options: { readonly mustExist: boolean; readonly work: 'backup' | 'export' | 'import' | 'keys' | 'pets' },
  ): Promise<AnimalStore>;
  /** Whether the database is the address of a server, which can be read page by page only. */
  isServer(databaseUrl: string | undefined): Promise<boolean>;
  /** Resolves with the files of the store, including those that do not exist yet: no command may read or write them. */
  storeFiles(databaseUrl: string | undefined): Promise<readonly string[]>;
  /** Replaces the store by a backup. Rejects when the store is in use, or when `file` is not a backup. */
  restoreStore(databaseUrl: string | undefined, file: string, options: RestoreOptions): Promise<Restored>;
  /** Examines the settings, the store and a backup of it. Changes nothing, and creates no store. */
  diagnose(databaseUrl: string | undefined, backup?: string): Promise<DoctorReport>;
  openApiDocument(): Promise<string>;
}

export interface CommandOptions extends CliOptions {
  /** The value of `--database-url`, or `undefined` without this option. */
  readonly databaseUrl: string | undefined;
}

export interface JsonFlag {
  readonly json?: boolean;
}

export interface ReplaceFlags extends JsonFlag {
  readonly force?: boolean;
  readonly verify?: boolean;
}

/** The values of the options of `serve`. A missing value is read from the environment. */
export interface ServeValues {
  readonly databaseUrl?: string | undefined;
  readonly host?: string | undefined;
  readonly port?: string | undefined;
}

export interface RunningService {
  readonly url: string;
  /** The location of the store: an absolute path, or a server and a database. */
  readonly store: string;
  /** The database for `--database-url`, or `undefined` for the default store. It can have no password. */
  readonly databaseUrl: string | undefined;
  /** The API key that the server created and that is to be shown. */
  readonly firstKey?: IssuedApiKey;
  /** Whether the configuration contains API keys, so that clients need no stored key. */
  readonly hasConfiguredKeys: boolean;
  stop(): Promise<void>;
}

export interface DoctorReport {
  readonly node: string;
  /** The variables of the environment that are set, with values that may be shown. */
  readonly settings: readonly { readonly name: string; readonly value: string }[];
  /** The setting that selects the database. Like the next two, it is `undefined` if this setting is invalid. */
  readonly source: string | undefined;
  readonly scheme: string | undefined;
  readonly database: Diagnosis | undefined;
  /** The sound backup that the user has named. */
  readonly backup?: (Omit<BackupContents, 'problems'> & { readonly file: string }) | undefined;
  /** All problems, including those of the database. */
  readonly problems: readonly Problem[];
}
