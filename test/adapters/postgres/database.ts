/** Common helpers of the PostgreSQL tests. What they open is closed at the end of each test. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Client } from 'pg';
import { expect, onTestFinished } from 'vitest';
import {
  examinePostgresStore,
  openPostgresStorage,
  type PostgresOptions,
} from '../../../src/adapters/postgres/index.ts';
import { columnOf } from '../../../src/adapters/storage-kit/pet-rows.ts';
import type { CreateAttempt } from '../../../src/application/ports/idempotent-creates.ts';
import type { Storage } from '../../../src/application/ports/storage.ts';
import { type NewPet, PET_ATTRIBUTES, type Pet } from '../../../src/domain/pet.ts';
import { samplePet, walk as walkPets } from '../../../src/testing/fixtures/pets.ts';
import { LABEL, literalsOf, MAX, REX } from '../../support/pets.ts';
import { connect, newDatabaseUrl, newUserUrl } from '../../support/postgres/index.ts';

export { LABEL, MAX, REX };

export function named(name: string): NewPet {
  return samplePet(name);
}

export function attemptWith(key: string): CreateAttempt {
  return { caller: '1', key, validFor: 60_000 };
}

export async function openStorage(url: string, options?: PostgresOptions): Promise<Storage> {
  const storage = await openPostgresStorage(url, options);
  onTestFinished(() => storage.close());
  return storage;
}

/** Opens a storage in a new database. */
export async function openStore(options?: PostgresOptions): Promise<{ url: string; storage: Storage }> {
  const url = await newDatabaseUrl();
  return { url, storage: await openStorage(url, options) };
}

/** Creates a store, to which no connection stays open. */
export async function newStoreUrl(): Promise<string> {
  const url = await newDatabaseUrl();
  await (await openPostgresStorage(url)).close();
  return url;
}

/** Returns the condition that a row, such as `NEW` of a trigger, has the attributes of the pet. */
export function hasAttributes(pet: NewPet, row = 'pets'): string {
  const literals = literalsOf(pet);
  const isEqual = (name: keyof NewPet, index: number) =>
    `${row}.${columnOf(name)} IS NOT DISTINCT FROM ${literals[index]}`;
  return PET_ATTRIBUTES.map(isEqual).join(' AND ');
}

/** Resolves with the number of rows that have the attributes of the pet. */
export async function countOf(client: Client, pet: NewPet): Promise<number | null> {
  return (await client.query(`SELECT 1 FROM pets WHERE ${hasAttributes(pet)}`)).rowCount;
}

/** A user of a store or of an empty schema. `store` is the URL of its owner, who is also the user of `admin`. */
interface StoreUser {
  readonly store: string;
  readonly url: string;
  readonly username: string;
  readonly admin: Client;
}

/** Creates a user with a privilege on a schema, which is new by default. */
export async function newUser(privilege: 'ALL' | 'USAGE' = 'ALL', empty?: string): Promise<StoreUser> {
  const store = empty ?? (await newDatabaseUrl());
  const url = await newUserUrl(store, privilege);
  return { store, url, username: new URL(url).username, admin: await connect(store) };
}

/** Creates a store, and a user who may read and write its tables. */
export async function newWriter(): Promise<StoreUser> {
  const user = await newUser('USAGE', await newStoreUrl());
  const { admin, username } = user;
  const { rows } = await admin.query<{ schema: string }>('SELECT current_schema() AS schema');
  await admin.query(`GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${rows[0]?.schema} TO ${username};
    GRANT USAGE ON ALL SEQUENCES IN SCHEMA ${rows[0]?.schema} TO ${username}`);
  return user;
}

/** Returns the messages of the errors that the examination of a store finds. */
export async function errorsIn(url: string): Promise<readonly string[]> {
  const { problems } = await examinePostgresStore(url);
  return problems.flatMap(({ severity, message }) => (severity === 'error' ? message : []));
}

/** Returns the URL of connections that start with a setting. */
export function withSetting(url: string, name: string, value: string): string {
  const result = new URL(url);
  const options = [result.searchParams.get('options') ?? '', `-c ${name}=${value}`];
  result.searchParams.set('options', options.join(' ').trim());
  return result.href;
}

/** Returns the URL with another deadline of a call, in milliseconds. */
export function withTimeout(url: string, timeout: number): string {
  const result = new URL(url);
  result.searchParams.set('query_timeout', `${timeout}`);
  return result.href;
}

/** Returns the URL with other parts. */
export function changed(url: string, parts: Partial<URL>): string {
  return Object.assign(new URL(url), parts).href;
}

/** Resolves with the number of connections that the user of a URL has. */
export async function connectionsOf(client: Client, url: string): Promise<number> {
  const { username } = new URL(url);
  const sql = 'SELECT count(*)::int AS count FROM pg_stat_activity WHERE usename = $1';
  const { rows } = await client.query<{ count: number }>(sql, [username]);
  return rows[0]?.count ?? 0;
}

/** Ends the connections that the user of a URL has. Resolves when this process has received the end of each of them. */
export async function endConnectionsOf(client: Client, url: string): Promise<void> {
  const { username } = new URL(url);
  const sql = 'SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = $1';
  await client.query(sql, [username]);
  for (let turns = 0; turns < 3; turns++) await nextTurn();
}

/** Resolves when another connection waits for a lock that this one holds. */
export async function untilBlocked(holder: Client): Promise<void> {
  const sql = 'SELECT 1 FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid))';
  await expect.poll(async () => (await holder.query(sql)).rowCount).toBeGreaterThan(0);
}

export function walk({ pets }: Storage, limit = 100): Promise<Pet[]> {
  return walkPets(pets, { limit });
}
