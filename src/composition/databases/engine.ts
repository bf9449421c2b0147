/** The interface of a database engine, and the options to open a database. */

import type {
  BackupContents,
  Diagnosis,
  Restored,
  RestoreOptions,
} from '../../application/ports/maintenance.ts';
import type { Observer } from '../../application/ports/observer.ts';
import type { StoreStorage } from '../../application/ports/storage.ts';
import type { ClientOptions } from '../../application/store-options.ts';

export interface OpenOptions {
  /** If true, a missing database is an error. By default it is created. */
  readonly mustExist?: boolean;
  /** Whether the database is opened for a command other than `serve`. */
  readonly forCommand?: boolean;
  /** When to migrate a store of an older release. `alone`: while nobody else has it open. `never`: not at all. Default: always. */
  readonly migration?: 'alone' | 'never' | undefined;
  readonly observer?: Observer | undefined;
  /** Returns the location with the current password. */
  readonly currentLocation?: (() => string) | undefined;
  /** Whether the database is only read, and neither created nor migrated. Used for the source of an import. */
  readonly readOnly?: boolean;
  /** The options for a database URL that is the address of a server. */
  readonly client?: ClientOptions | undefined;
}

export type Work = 'backup' | 'export' | 'import' | 'keys' | 'new-epoch' | 'pets' | 'restore';

/**
 * A kind of database. Each `location` is a result of {@link Engine.parse}. The functions that need a driver import their adapter
 * dynamically, so that unused drivers are not loaded.
 */
export interface Engine<S extends StoreStorage = StoreStorage> {
  /** The schemes of the database URL, without the colon. */
  readonly schemes: readonly string[];
  /** The format of a database URL for error messages, such as `sqlite:PATH`. */
  readonly usage: string;
  /** The npm package that the adapter needs, if it is not always installed. */
  readonly driver?: string;
  /** The tools to use for work that the adapter does not support. */
  readonly ownTools?: Partial<Readonly<Record<Work, string>>>;
  /** Whether the data outlives the process. */
  readonly isDurable: boolean;
  /** Whether the database URL is the address of a server, through whose API the store is opened. */
  readonly isRemote?: boolean;
  /** Returns the location from `rest`, which is the URL after its first colon. An error must contain no part of a password. */
  parse(rest: string, scheme: string): string;
  /** Returns the location that messages show, such as an absolute path, or a server and a database. Hides passwords. */
  placeOf(location: string): string;
  open(location: string, options: OpenOptions): Promise<S>;
  /** Examines a database, even one in use. Changes nothing. If it cannot be opened, reports a problem or rejects. */
  examine(location: string, client: ClientOptions | undefined): Promise<Diagnosis>;
  /** Replaces the database with a backup in a file. No process may have the database open. */
  restore?(location: string, file: string, options: RestoreOptions): Promise<Restored>;
  /** Checks a backup of the database, and changes nothing. Rejects with `invalid_request` when the backup is not sound. */
  examineBackup?(location: string, file: string): Promise<BackupContents>;
}
