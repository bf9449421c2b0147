/** Databases for tests, in a PostgreSQL server that the first test starts. */

import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Client } from 'pg';
import { afterAll, describe, inject } from 'vitest';
import { openClient } from './client.ts';
import type { StartResponse } from './global-setup.ts';
import { noPrograms } from './programs.ts';
import { QUERY_TIMEOUT } from './server.ts';

export { connect, openClient } from './client.ts';
export { type PostgresServer, startPostgres } from './server.ts';

/** The additional kind of storage in tests of every storage. */
export type PostgresKind = 'postgres';

/** Whether PostgreSQL runs here. In continuous integration its tests always run, and fail if there is no server. */
export const canRunPostgres: boolean = noPrograms === undefined || Boolean(process.env['CI']);

/** The end of the name of a test that needs PostgreSQL. */
export const postgresNote: string = canRunPostgres ? '' : ` (skipped: ${noPrograms})`;

/** Groups tests that need PostgreSQL, which are skipped where it cannot run. */
export function describePostgres(title: string, tests: () => void): void {
  describe.skipIf(!canRunPostgres)(title + postgresNote, tests);
}

/** The database of this test file, and a connection to it. */
interface FileDatabase {
  readonly name: string;
  readonly client: Client;
}

let server: Promise<string> | undefined;
let database: Promise<FileDatabase> | undefined;

// Our server removes the databases with its folder. Another file of the same process gets a database of its own.
afterAll(async () => {
  const ended = database;
  database = undefined;
  await (await ended)?.client.end();
});

/**
 * Returns a URL that leads to an empty schema, in which a store works as in an empty database. All schemas of a test
 * file are in one database, because creating a database takes longer than most tests.
 */
export async function newDatabaseUrl(): Promise<string> {
  database ??= createDatabase();
  const { name, client } = await database;
  const schema = newName();
  await client.query(`CREATE SCHEMA ${schema}`);
  const url = new URL(await serverUrl());
  url.pathname = name;
  url.searchParams.set('query_timeout', `${QUERY_TIMEOUT}`);
  url.searchParams.set('options', `-c search_path=${schema}`);
  return url.href;
}

/** Creates a user with a privilege on the schema of a URL, and returns the URL for this user. */
export async function newUserUrl(databaseUrl: string, privilege: 'ALL' | 'USAGE'): Promise<string> {
  const url = new URL(databaseUrl);
  const [, schema] = /search_path=(\w+)/.exec(url.searchParams.get('options') ?? '') ?? [];
  url.username = newName();
  url.password = randomUUID();
  const client = (await database)?.client;
  await client?.query(`CREATE ROLE ${url.username} LOGIN PASSWORD '${url.password}';
    GRANT ${privilege} ON SCHEMA ${schema} TO ${url.username}`);
  return url.href;
}

async function createDatabase(): Promise<FileDatabase> {
  const name = newName();
  const url = new URL(await serverUrl());
  const creator = await openClient(url.href);
  await creator.query(`CREATE DATABASE ${name} TEMPLATE template0`);
  await creator.end();
  url.pathname = name;
  return { name, client: await openClient(url.href) };
}

function newName(): string {
  return `test_${randomUUID().replaceAll('-', '')}`;
}

function serverUrl(): Promise<string> {
  server ??= askForServer();
  return server;
}

async function askForServer(): Promise<string> {
  const response: StartResponse = JSON.parse(await text(connect(inject('postgresPort'), '127.0.0.1')));
  if ('error' in response) throw new Error(response.error);
  return response.url;
}
