import type {
  BackupContents,
  Diagnosis,
  Restored,
  RestoreOptions,
} from '../../application/ports/maintenance.ts';
import type { StoreStorage } from '../../application/ports/storage.ts';
import { storageFaultReason, storageUnavailable } from '../../application/ports/storage-fault.ts';
import { type ClientOptions, supported } from '../../application/store-options.ts';
import { asAnimalStoreError, invalidRequest } from '../../domain/errors.ts';
import type { Adapter, Engine, OpenOptions, Work } from './engine.ts';

/** A database that a database URL selects, and that need not exist. The methods are those of its {@link Adapter}. */
export class SelectedDatabase {
  readonly scheme: string;
  /** A result of {@link Engine.parse}. It must not be printed, because it can be a URL with a password. */
  readonly location: string;
  /** The setting that selected the database. Messages of `storage_unavailable` begin with it. */
  readonly source: string | undefined;
  readonly #engine: Engine;

  constructor(engine: Engine, scheme: string, location: string, source?: string) {
    this.scheme = scheme;
    this.location = location;
    this.source = source;
    this.#engine = engine;
  }

  get isDurable(): boolean {
    return this.#engine.isDurable;
  }

  get isRemote(): boolean {
    return this.#engine.isRemote === true;
  }

  /** The location for people, without a password. */
  get place(): string {
    return this.#engine.placeOf(this.location);
  }

  /** The database URL for hints, without a password. That of a database server is not complete. */
  get address(): string {
    return this.isDurable ? `${this.scheme}:${this.place}` : this.place;
  }

  /** Returns the same database, selected by another setting. */
  selectedBy(source: string): SelectedDatabase {
    return new SelectedDatabase(this.#engine, this.scheme, this.location, source);
  }

  open(options: OpenOptions = {}): Promise<StoreStorage> {
    return this.#withAdapter((adapter) => adapter.open(this.location, options));
  }

  examine(client?: ClientOptions): Promise<Diagnosis> {
    return this.#withAdapter((adapter) => adapter.examine(this.location, client));
  }

  examineBackup(file: string): Promise<BackupContents> {
    return this.#withAdapter(({ examineBackup }) => supported(examineBackup, 'backup')(this.location, file));
  }

  restore(file: string, options: RestoreOptions = {}): Promise<Restored> {
    return this.#withAdapter(({ restore }) => supported(restore, 'restore')(this.location, file, options));
  }

  /** Throws `invalid_request` when the engine has its own tools for this work. The message names the tool. */
  refuseWork(work: Work): void {
    const tool = this.#engine.ownTools?.[work];
    if (tool !== undefined) throw invalidRequest(`${work} is not supported by this storage: use ${tool}`);
  }

  async #withAdapter<T>(work: (adapter: Adapter) => T | Promise<T>): Promise<T> {
    try {
      return await work(await loadAdapter(this.#engine));
    } catch (error) {
      throw this.source === undefined ? error : withSource(error, this.source);
    }
  }
}

/** Throws `invalid_request`. The message shows at most the scheme of the URL, because the rest may contain a password. */
export function parseDatabase(engines: readonly Engine[], url: string): SelectedDatabase {
  const [, scheme = '', rest = ''] = /^([^:]*):(.*)$/s.exec(url) ?? [];
  const engine = engines.find(({ schemes }) => schemes.includes(scheme));
  if (engine !== undefined) return new SelectedDatabase(engine, scheme, engine.parse(rest.trim(), scheme));
  const usages = engines.map(({ usage }) => usage).join(' or ');
  const isUrl = rest.startsWith('//') && /^['"]?[a-z+.-]+$/i.test(scheme);
  const got = isUrl ? `'${scheme}:…'` : 'a value without such a scheme';
  throw invalidRequest(`expected ${usages}, got ${got}`);
}

async function loadAdapter({ driver, load }: Engine): Promise<Adapter> {
  try {
    return await load();
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    // Another module can be missing too.
    if (code !== 'ERR_MODULE_NOT_FOUND' || !message.includes(`'${driver}'`)) throw cause;
    throw storageUnavailable(`the package ${driver} is not installed: npm install ${driver}`, cause);
  }
}

function withSource(error: unknown, source: string): unknown {
  const known = asAnimalStoreError(error);
  if (known?.code !== 'storage_unavailable') return error;
  return storageUnavailable(`${source}: ${known.message}`, error, storageFaultReason(known));
}
