import type { AnimalStore } from '../../application/animal-store.ts';
import type { IssuedApiKey } from '../../application/api-keys.ts';
import type { Console } from './console.ts';

/**
 * The dependencies of the commands. `databaseUrl` is the value of the option `--database-url`, or `undefined` without
 * this option.
 */
export interface CliOptions {
  readonly version: string;
  readonly console: Console;
  /** The signal that is aborted when the user or the operating system asks the process to stop. */
  readonly signal: AbortSignal;
  startService(databaseUrl: string | undefined): Promise<RunningService>;
  /**
   * Opens the store at `databaseUrl`, or at the URL from the environment if `databaseUrl` is `undefined`. The caller
   * must close the store.
   */
  openStore(databaseUrl: string | undefined, options: { readonly mustExist: boolean }): Promise<AnimalStore>;
  /**
   * Resolves with the paths of the files that belong to the store, including files that do not exist yet. No command
   * may use one of these files as its input or output.
   */
  storeFiles(databaseUrl: string | undefined): Promise<readonly string[]>;
  /** Resolves with the OpenAPI document as JSON. */
  openApiDocument(): Promise<string>;
}

/** A server that accepts connections. */
export interface RunningService {
  /** The base URL of the API. */
  readonly url: string;
  /** The API key that the server created, or `undefined`. The server creates a key if the store has never had a key. */
  readonly firstKey: IssuedApiKey | undefined;
  /** Whether the configuration contains API keys, so that clients need no stored key. */
  readonly hasConfiguredKeys: boolean;
  stop(): Promise<void>;
}
