import type { Diagnosis, Restored, RestoreOptions } from '../../application/ports/maintenance.ts';
import type { Storage } from '../../application/ports/storage.ts';
import { AnimalStoreError } from '../../domain/errors.ts';
import type { Adapter, Engine, OpenOptions } from './engine.ts';
import { shownValue } from './shown-value.ts';

/** A parsed database URL, as plain data that can be sent to another thread. */
export interface Database {
  readonly scheme: string;
  /**
   * The location of the data, which {@link Engine.parse} returned, such as the path of a file. A location must not be
   * printed, because it can be a URL with a password.
   */
  readonly location: string;
}

/** The supported databases. Only this class parses database URLs. */
export class DatabaseRegister {
  readonly #engines: readonly Engine[];

  constructor(engines: readonly Engine[]) {
    this.#engines = engines;
  }

  /** Parses a database URL. Returns `undefined` when the URL is invalid. */
  parse(url: string): Database | undefined {
    const [scheme, rest] = split(url);
    const location = rest === undefined ? undefined : this.#find(scheme)?.parse(rest.trim());
    return location === undefined ? undefined : { scheme, location };
  }

  /**
   * Returns the reason why a database URL is invalid. If the scheme is unknown, only the scheme is shown, because the
   * rest of the URL may contain a password.
   */
  fault(url: string): string {
    const [scheme, rest] = split(url);
    const shown = rest === undefined || this.#find(scheme) !== undefined ? url : `${scheme}:…`;
    const usages = new Set(this.#engines.map(({ usage }) => usage));
    return `expected ${[...usages].join(' or ')}, got ${shownValue(shown)}`;
  }

  /** Whether the data of a database outlives the process. */
  isDurable({ scheme }: Database): boolean {
    return this.#engine(scheme).isDurable;
  }

  /**
   * Opens a database. Rejects with `storage_unavailable` when the database cannot be opened or the driver is not
   * installed.
   */
  async open({ scheme, location }: Database, options: OpenOptions = {}): Promise<Storage> {
    return await (await this.#load(scheme)).open(location, options);
  }

  /** Returns the paths of all files that a database can have, including missing files. Does not open the database. */
  async files({ scheme, location }: Database): Promise<readonly string[]> {
    return (await this.#load(scheme)).files(location);
  }

  /**
   * Replaces a database that no process has open by a backup. Rejects with `invalid_request` when the engine does not
   * support restores.
   */
  async restore(
    { scheme, location }: Database,
    file: string,
    options: RestoreOptions = {},
  ): Promise<Restored> {
    this.refuseWork(scheme, 'restore');
    const { restore } = await this.#load(scheme);
    if (restore !== undefined) return await restore(location, file, options);
    throw new AnimalStoreError('invalid_request', 'restore is not supported by this storage');
  }

  /** Throws `invalid_request` when the engine has its own tools for this work. The message names the tool. */
  refuseWork(scheme: string, work: 'backup' | 'restore'): void {
    const tool = this.#engine(scheme).ownTools?.[work];
    if (tool === undefined) return;
    throw new AnimalStoreError('invalid_request', `${work} is not supported by this storage: use ${tool}`);
  }

  /** Examines a database without changing it. Rejects with `storage_unavailable` when the driver is not installed. */
  async examine({ scheme, location }: Database): Promise<Diagnosis> {
    return await (await this.#load(scheme)).examine(location);
  }

  async #load(scheme: string): Promise<Adapter> {
    const { driver, load } = this.#engine(scheme);
    try {
      return await load();
    } catch (cause) {
      const isMissing = cause instanceof Error && 'code' in cause && cause.code === 'ERR_MODULE_NOT_FOUND';
      if (driver === undefined || !isMissing) throw cause;
      const message = `the package ${driver} is not installed: npm install ${driver}`;
      throw new AnimalStoreError('storage_unavailable', message, { cause });
    }
  }

  #engine(scheme: string): Engine {
    const engine = this.#find(scheme);
    if (engine === undefined) throw new TypeError(`unknown database scheme: ${scheme}`);
    return engine;
  }

  #find(scheme: string): Engine | undefined {
    return this.#engines.find((engine) => engine.scheme === scheme);
  }
}

function split(url: string): readonly [scheme: string, rest: string | undefined] {
  const colon = url.indexOf(':');
  return colon === -1 ? [url, undefined] : [url.slice(0, colon), url.slice(colon + 1)];
}
