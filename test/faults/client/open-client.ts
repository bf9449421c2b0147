import { onTestFinished } from 'vitest';
import { Client } from '../../support/client.ts';
import { OPERATOR } from '../keys.ts';

/** Opens a client of a server. It is closed at the end of the test. */
export function openClient({ origin }: { readonly origin: string }, key: string = OPERATOR): Client {
  const client = new Client(origin, key);
  onTestFinished(() => client.close());
  return client;
}
