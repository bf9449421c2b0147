/** Starts at most one PostgreSQL server for a run of tests, when the first test asks for it. */

import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import type { TestProject } from 'vitest/node';
import { noPrograms } from './programs.ts';
import { type PostgresServer, startPostgres } from './server.ts';

/**
 * The data of this server is lost with its folder, so a crash may damage it. Tests of durability start a server of their
 * own. Autovacuum would take processor time from the tests.
 */
const SETTINGS = { fsync: 'off', full_page_writes: 'off', autovacuum: 'off' };

declare module 'vitest' {
  interface ProvidedContext {
    /** The port on which a test process asks for the URL of the server. */
    postgresPort: number;
  }
}

/** The response to a test process. */
export type StartResponse = { readonly url: string } | { readonly error: string };

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  if (noPrograms !== undefined)
    console.warn(`THE TESTS OF POSTGRESQL DO NOT RUN: ${noPrograms.toUpperCase()}.`);
  let server: Promise<PostgresServer> | undefined;
  const door = createServer(async (socket) => {
    socket.on('error', () => {});
    server ??= startPostgres(SETTINGS);
    const response: StartResponse = await server.then(
      ({ url }) => ({ url }),
      (error: unknown) => ({ error: String(error) }),
    );
    socket.end(JSON.stringify(response));
  }).listen(0, '127.0.0.1');
  await once(door, 'listening');
  project.provide('postgresPort', (door.address() as AddressInfo).port);
  return async () => {
    door.close();
    await (await server?.catch(() => undefined))?.close();
  };
}
