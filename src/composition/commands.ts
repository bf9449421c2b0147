/** Connects the commands of the command line with the parts of the program. */

import { statSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import type { CliOptions, ServeValues } from '../adapters/cli/index.ts';
import { openApiDocument } from '../adapters/http/portable.ts';
import { AnimalStore } from '../application/animal-store.ts';
import { supported } from '../application/arguments.ts';
import type { ClientOptions } from '../application/store-options.ts';
import { ConfigError, type Environment } from './config/settings.ts';
import { ANY_STORE, describeSettings, loadClient, loadConfig, loadDurableDatabase } from './config.ts';
import { callEngine, type Database, openDatabase, parseDatabase } from './databases/database.ts';
import type { OpenOptions, Work } from './databases/engine.ts';
import { ENGINES } from './databases/index.ts';
import { diagnose } from './doctor.ts';
import type { Service } from './serve.ts';

interface Commands extends Omit<CliOptions, 'version' | 'console' | 'signal'> {
  startService(values: ServeValues): Promise<Service>;
}

type Report = (reason: string) => void;

export function createCommands(environment: Environment, version: string, report?: Report): Commands {
  /** Returns the database. Throws a `ConfigError` if its storage does not support the work. */
  const databaseFor = (work: Work, url: string | undefined): Database => {
    const database = loadDurableDatabase(environment, url);
    const tool = database.engine.ownTools?.[work];
    if (tool !== undefined) throw new ConfigError(`${work} is not supported by this storage: use ${tool}`);
    return database;
  };
  const open = async (database: Database, options: OpenOptions): Promise<AnimalStore> => {
    const client = { ...loadClient(environment, database), fetch: report && reportingFetch(report) };
    return new AnimalStore(await openDatabase(database, { ...options, forCommand: true, client }));
  };
  return {
    settings: describeSettings(),
    databaseUrls: ENGINES.map(({ usage, isRemote }) => usage + (isRemote ? ' with API_KEY' : '')),
    async startService(values) {
      const config = loadConfig(environment, values);
      // The modules of a server are loaded only here, so that other commands start sooner.
      const { startService } = await import('./serve.ts');
      return startService(config, version);
    },
    // A command that only reads does not migrate an older store. Other commands do, if nobody else has it open.
    openStore: async (databaseUrl, { work, mustExist, onlyReads }) =>
      open(databaseFor(work, databaseUrl), { mustExist, migration: onlyReads ? 'never' : 'alone' }),
    async openSource(address, databaseUrl) {
      const source = sourceAt(address);
      if (source === undefined) return undefined;
      if (identityOf(source) === identityOf(loadDurableDatabase(environment, databaseUrl)))
        throw new Error(`import: ${source.place} is the store itself: expected another store`);
      const store = await open(source, { mustExist: true, readOnly: true, migration: 'alone' });
      return { store, place: source.place };
    },
    restoreStore: async (databaseUrl, file, options) =>
      callEngine(databaseFor('restore', databaseUrl), async (engine, location) =>
        supported(engine.restore, 'restore')(location, file, options),
      ),
    diagnose: (databaseUrl, backup) => diagnose(environment, databaseUrl, backup),
    async openApiDocument() {
      const { http, host, port } = loadConfig(environment, ANY_STORE);
      const authority = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
      return openApiDocument(http.publicUrl ?? `http://${authority}`, http);
    },
  };
}

/** Returns the database at the address, or `undefined` when the address is the path of a file. */
function sourceAt(address: string): Database | undefined {
  const [scheme = ''] = address.split(':', 1);
  // A URL of an unsupported kind must not be mistaken for a path: an error would show the path, and thus a password in the URL.
  const isAddress =
    address.includes('://') ||
    ENGINES.some(({ schemes }) => address.includes(':') && schemes.includes(scheme.toLowerCase()));
  if (!isAddress) return undefined;
  try {
    const source = { ...parseDatabase(ENGINES, address), source: 'import' };
    if (source.engine.isDurable) return source;
    throw new Error(`${source.scheme}: has no pets, because its data ends with a process`);
  } catch (error) {
    throw new ConfigError(`import: ${(error as Error).message}`);
  }
}

/**
 * Identifies a database. A database file is identified by its device and inode, because the file can have several paths. Any other
 * database is identified by its `place`.
 */
function identityOf({ place }: Database): string {
  const stats = isAbsolute(place) ? statSync(place, { bigint: true, throwIfNoEntry: false }) : undefined;
  return stats === undefined ? place : `${stats.dev}:${stats.ino}`;
}

/** Returns a `fetch` that reports why the client repeats a request. Reports again only after a request has succeeded. */
function reportingFetch(report: Report): ClientOptions['fetch'] {
  let [fault, reported] = ['', ''];
  return async (url, init) => {
    if (fault !== '' && reported === '') report(`${fault}: trying again`);
    reported = fault;
    const response = await fetch(url, init).catch((error) => {
      const { code, message } = error.cause ?? error;
      fault = `the server cannot be reached (${code ?? message})`;
      throw error;
    });
    const { ok, status, body } = response;
    const flush = (): void => {
      fault = '';
    };
    fault = ok ? 'the response of the server is not complete' : `the server responds with status ${status}`;
    if (ok && body === null) flush();
    return ok && body ? new Response(body.pipeThrough(new TransformStream({ flush })), response) : response;
  };
}
