import type { Diagnosis, Restored, RestoreOptions } from '../../application/ports/maintenance.ts';
import type { Observer } from '../../application/ports/observer.ts';
import type { Storage } from '../../application/ports/storage.ts';
import type { ClientOptions } from '../../application/store-options.ts';

export interface OpenOptions {
  /** If true, opening a missing database is an error. By default a missing database is created. */
  readonly mustExist?: boolean;
  /** Whether the database is opened for a command other than `serve`. Default: false. */
  readonly forCommand?: boolean;
  readonly observer?: Observer | undefined;
  /** For the address of a server. */
  readonly client?: ClientOptions | undefined;
  /** Set if several threads of this process open the database. */
  readonly sharing?: Sharing | undefined;
}

/** How several threads of a process share a database. An engine can need more than this. */
export interface Sharing {
  /** The number of threads, without the main thread. Each gets an equal part of the limits. */
  readonly threads: number;
}

export type Work = 'backup' | 'export' | 'import' | 'keys' | 'restore';

/** The functions of a loaded storage adapter. Each `location` is a result of {@link Engine.parse}. */
export interface Adapter {
  open(location: string, options: OpenOptions): Storage | Promise<Storage>;
  /** Returns the paths of all files that the database can have, including missing files. */
  files(location: string): readonly string[];
  /**
   * Replaces the database, which no process may have open, by a backup in a file. An engine that has its own backup
   * tools can leave out this method.
   */
  restore?(location: string, file: string, options: RestoreOptions): Promise<Restored>;
  /**
   * Examines a database that a server may have open. Changes nothing, and creates no database. A fault of the database
   * is a problem of the diagnosis, and not an error.
   */
  examine(location: string, client: ClientOptions | undefined): Diagnosis | Promise<Diagnosis>;
}

/** A kind of database. The engine defines the format of the database URLs, and loads the storage adapter. */
export interface Engine {
  /** The part of a database URL before the first colon, which can have several spellings. */
  readonly schemes: readonly string[];
  /** The format of a database URL, as error messages show it, such as `sqlite:PATH`. */
  readonly usage: string;
  /** The npm package that the adapter needs, if the package is not always installed. */
  readonly driver?: string;
  /** The programs of the engine for work that its adapter does not support. */
  readonly ownTools?: Partial<Readonly<Record<Work, string>>>;
  /** Whether the data outlives the process. */
  readonly isDurable: boolean;
  /** Whether a database URL is the address of a server, which has the store. */
  readonly isRemote?: boolean;
  /**
   * Parses the part of a database URL after the first colon. Returns the location of the data, such as the path of a
   * file. Returns `undefined` if the URL is invalid.
   *
   * @param scheme the part before the colon, which is one of `schemes`
   */
  parse(rest: string, scheme: string): string | undefined;
  /** Imports the adapter. The import must be dynamic, so that unused drivers are not loaded. */
  load(): Promise<Adapter>;
}
