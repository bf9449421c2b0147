/** Finds the database that a URL selects, and calls its engine. */

import type { StoreStorage } from '../../application/ports/storage.ts';
import { storageFaultReason, storageUnavailable } from '../../application/ports/storage-fault.ts';
import { asAnimalStoreError, invalidRequest } from '../../domain/errors.ts';
import type { Engine, OpenOptions } from './engine.ts';

/** A database that a database URL selects. The database need not exist. */
export interface Database<S extends StoreStorage = StoreStorage> {
  readonly engine: Engine<S>;
  readonly scheme: string;
  /** A result of {@link Engine.parse}. It must not be printed, because it can be a URL with a password. */
  readonly location: string;
  /** The location as messages show it, without a password. */
  readonly place: string;
  /** The setting that selected the database. Messages of `storage_unavailable` begin with it. */
  readonly source?: string;
  /** Reads the URL again if it is in a file, because its password can change. */
  readonly readUrl?: () => string;
}

/**
 * Throws `invalid_request` for an invalid URL. If no engine has its scheme, the message shows at most this scheme, because the rest
 * may contain a password.
 */
export function parseDatabase<S extends StoreStorage>(
  engines: readonly Engine<S>[],
  url: string,
): Database<S> {
  const [, start = '', rest = ''] = /^([^:]*):(.*)$/s.exec(url) ?? [];
  const scheme = start.toLowerCase();
  const engine = engines.find(({ schemes }) => schemes.includes(scheme));
  const isText = !/\p{Cc}/u.test(url.trim());
  if (engine !== undefined && isText) {
    const location = engine.parse(rest.trim(), scheme);
    return { engine, scheme, location, place: engine.placeOf(location) };
  }
  const usages = engines.map(({ usage }) => usage).join(' or ');
  const isUrl = rest.startsWith('//') && /^['"]?[a-z+.-]+$/.test(scheme);
  const got = isUrl ? `'${scheme}:…'` : 'a value without such a scheme';
  throw invalidRequest(`expected ${usages}, got ${isText ? got : 'a value with control characters'}`);
}

export function openDatabase<S extends StoreStorage>(
  database: Database<S>,
  options: OpenOptions = {},
): Promise<S> {
  const { readUrl } = database;
  const currentLocation = readUrl && (() => parseDatabase([database.engine], readUrl()).location);
  return callEngine(database, (engine, location) => engine.open(location, { ...options, currentLocation }));
}

/** Calls the engine. Reports a missing driver. Messages of `storage_unavailable` begin with the setting that names the database. */
export async function callEngine<S extends StoreStorage, T>(
  { engine, location, source }: Database<S>,
  work: (engine: Engine<S>, location: string) => Promise<T>,
): Promise<T> {
  try {
    return await work(engine, location).catch((cause: NodeJS.ErrnoException) => {
      const { driver } = engine;
      // This error code can also be about another missing module.
      if (cause.code !== 'ERR_MODULE_NOT_FOUND' || !cause.message.includes(`'${driver}'`)) throw cause;
      throw storageUnavailable(`the package ${driver} is not installed: npm install ${driver}`, cause);
    });
  } catch (error) {
    const known = asAnimalStoreError(error);
    if (source === undefined || known?.code !== 'storage_unavailable') throw error;
    throw storageUnavailable(`${source}: ${known.message}`, error, storageFaultReason(known));
  }
}
