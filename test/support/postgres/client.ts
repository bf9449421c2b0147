/** Connections of tests to a PostgreSQL server. */

import { Client } from 'pg';
import { onTestFinished } from 'vitest';

/** Opens a connection, which the caller closes. */
export async function openClient(connectionString: string): Promise<Client> {
  const client = new Client({ connectionString });
  // The end of the server is no error of the test.
  client.on('error', () => {});
  await client.connect();
  return client;
}

/** Opens a connection that is closed at the end of the test. */
export async function connect(connectionString: string): Promise<Client> {
  const client = await openClient(connectionString);
  onTestFinished(() => client.end());
  return client;
}
