/** Reads, which calls share as long as they were not sent. */

import { nextTurn } from '../../application/next-turn.ts';
import type { Pet } from '../../domain/pet.ts';
import { PET_COLUMNS, petOf } from '../storage-kit/pet-rows.ts';
import type { ConnectionPool, ResultRow, SqlStatement } from './connection-pool.ts';
import { type Faults, hadNoEffect, storageError } from './errors.ts';

/** Sends the statement that `begin` returns, when a connection is free. Rejects with an `AnimalStoreError`. */
export type Read = (begin: () => SqlStatement) => Promise<readonly ResultRow[]>;

/** A read whose connection hangs or is lost is sent once more, over another one. */
export function readsOver(pool: ConnectionPool, faults: Faults): Read {
  return async (begin) => {
    const again = (error: unknown) => (hadNoEffect(error) ? Promise.reject(error) : pool.run(begin));
    try {
      const rows = await pool.run(begin).catch(again);
      faults.reportSuccess('read');
      return rows;
    } catch (error) {
      const reason = storageError(error);
      faults.reportFailure('read', reason);
      throw reason;
    }
  };
}

type Convert<R> = (rows: readonly ResultRow[]) => R;
type Share<R> = (key: string, statement: SqlStatement, convert: Convert<R>) => Promise<R>;

/** Equal calls share a read that has not been sent yet. One that was sent can lack a write that was acknowledged since. */
export function sharedReads<R>(read: Read): Share<R> {
  const waiting = new Map<string, Promise<R>>();
  return (key, statement, convert) => {
    const known = waiting.get(key);
    if (known !== undefined) return known;
    const leave = () => {
      if (waiting.get(key) === result) waiting.delete(key);
      return statement;
    };
    const sent = nextTurn().then(() => read(leave));
    const result = sent.then(convert).finally(leave);
    waiting.set(key, result);
    return result;
  };
}

/** PostgreSQL plans a statement with an array for each execution, and one without an array only once. */
const FIND = { name: 'find', text: `SELECT ${PET_COLUMNS} FROM pets WHERE id = ANY ($1::bigint[])` };
const FIND_ONE = { name: 'find-one', text: `SELECT ${PET_COLUMNS} FROM pets WHERE id = $1` };
/** A connection reads one page of a slow disk at a time, so a statement reads for few calls while connections are free. */
const PETS_PER_STATEMENT = 6;

interface WaitingGet {
  readonly id: bigint;
  resolve(pet: Pet | undefined): void;
  reject(error: unknown): void;
}

/** Finds pets by their ids. Each free connection takes its share of the calls of a turn of the event loop. */
export function groupedGets(read: Read, pool: ConnectionPool): (id: bigint) => Promise<Pet | undefined> {
  let waiting: WaitingGet[] = [];

  function sendAll(): void {
    const gets = waiting;
    waiting = [];
    const free = Math.max(1, pool.max - pool.statistics.busy);
    const share = Math.max(PETS_PER_STATEMENT, Math.ceil(gets.length / free));
    for (let start = 0; start < gets.length; start += share) void send(gets.slice(start, start + share));
  }

  async function send(gets: readonly WaitingGet[]): Promise<void> {
    const ids = gets.map(({ id }) => id);
    const isOne = ids.length === 1;
    const statement = isOne ? { ...FIND_ONE, values: ids } : { ...FIND, values: [`{${ids.join()}}`] };
    try {
      const rows = await read(() => statement);
      const found = new Map(rows.map((row) => [row[0], petOf(row)]));
      for (const { id, resolve } of gets) resolve(found.get(id));
    } catch (error) {
      for (const { reject } of gets) reject(error);
    }
  }

  return (id) =>
    new Promise((resolve, reject) => {
      if (waiting.push({ id, resolve, reject }) === 1) void nextTurn().then(sendAll);
    });
}
