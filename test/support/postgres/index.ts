/** Databases for tests, in a PostgreSQL server that the first test starts. `TEST_DATABASE_URL` replaces the server. */

import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { Client } from 'pg';
import { afterAll, inject } from 'vitest';
import type { StartResponse } from './global-setup.ts';
import { noPrograms } from './programs.ts';

export { type PostgresServer, startPostgres } from './server.ts';

const OTHER_SERVER = process.env['TEST_DATABASE_URL'];

/** Whether `startPostgres` works. In continuous integration its tests always run, and fail if there is no server. */
export const canStartPostgres: boolean = noPrograms === undefined || Boolean(process.env['CI']);

/** The end of the name of a test that calls `startPostgres`. */
export const startPostgresNote: string = canStartPostgres ? '' : ` (skipped: ${noPrograms})`;

/** Whether `newDatabaseUrl` works. */
export const canRunPostgres: boolean = canStartPostgres || Boolean(OTHER_SERVER);

/** The end of the name of a test that calls `newDatabaseUrl`. */
export const postgresNote: string = canRunPostgres ? '' : startPostgresNote;

let server: Promise<string> | undefined;
const databases: string[] = [];

// Dropping a database is slow. The databases of our own server are removed with its folder.
afterAll(async () => {
  if (!OTHER_SERVER || databases.length === 0) return;
  await execute(databases.splice(0).map((name) => `DROP DATABASE ${name} WITH (FORCE)`));
});

/** Creates an empty database, and returns its URL. The database is removed after the tests. */
export async function newDatabaseUrl(): Promise<string> {
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await execute([`CREATE DATABASE ${name} TEMPLATE template0`]);
  databases.push(name);
  const url = new URL(await serverUrl());
  url.pathname = name;
  return url.href;
}

async function execute(statements: readonly string[]): Promise<void> {
  const client = new Client({ connectionString: await serverUrl() });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

function serverUrl(): Promise<string> {
  server ??= OTHER_SERVER ? Promise.resolve(OTHER_SERVER) : askForServer();
  return server;
}

async function askForServer(): Promise<string> {
  const response: StartResponse = JSON.parse(await text(connect(inject('postgresPort'), '127.0.0.1')));
  if ('error' in response) throw new Error(response.error);
  return response.url;
}
