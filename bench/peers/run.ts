/** Starts a peer with PORT and DATABASE_URL from the environment. Prints the address, and stops on SIGTERM. */

import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import Database from 'better-sqlite3';
import { Store } from './store.ts';

const { PORT = '0', DATABASE_URL = '' } = process.env;

export const address: { host: string; port: number } = { host: '127.0.0.1', port: Number(PORT) };

/** The path of the SQLite file. */
export const file: string = DATABASE_URL.replace(/^sqlite:/, '');

export function openStore(): Store {
  return new Store(new Database(file, { fileMustExist: true }).defaultSafeIntegers(true));
}

export function run(server: Server): void {
  server.listen(address, () => announce(server));
  endOnSignal(() => server.close());
}

export function announce(server: Server): void {
  console.log(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`);
}

export function endOnSignal(close: () => unknown): void {
  const end = async () => {
    await close();
    process.exit(0);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, end);
}
