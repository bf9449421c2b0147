import type { MetricsText, ServerThread } from '../../adapters/http/api/index.ts';
import type { SqliteOptions } from '../../adapters/sqlite/index.ts';
import type { Observer } from '../../application/ports/observer.ts';
import type { Config } from '../config.ts';
import type { DatabasePlace } from '../databases/index.ts';
import type { ThreadLog } from './thread-log.ts';

/** What the main thread tells a thread that handles requests at its start. */
export interface ThreadData {
  readonly config: Omit<Config, 'database'> & { readonly database: DatabasePlace };
  readonly version: string;
  readonly server: ServerThread;
  /** The number of characters of log lines on their way to the main thread. */
  readonly logUnderway: Int32Array<SharedArrayBuffer>;
}

/** What a thread replaces of the parts of a server. */
export interface ThreadParts {
  readonly name: string;
  readonly server: ServerThread;
  readonly sharing: SqliteOptions['sharing'];
  readonly log: ThreadLog;
  /** The metrics of all threads. */
  readonly metrics: MetricsText;
  /** Resolves when the storages of all threads can handle requests. */
  check(): Promise<void>;
  /** The main thread logs what concerns all threads. */
  readonly observer: Pick<Required<Observer>, 'onStorageState' | 'onWarning'>;
}
