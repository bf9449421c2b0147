import type { Pet } from '../../domain/pet.ts';
import { afterThisTurn } from '../storage-kit/timers.ts';
import type { SqlStatement } from './connection-pool.ts';
import { COLUMNS, petOf } from './pets.ts';
import type { Read } from './reads.ts';

/** A connection reads one page of a slow disk at a time, so one statement must not read for too many calls. */
const PETS_PER_STATEMENT = 6;

interface WaitingGet {
  readonly id: bigint;
  resolve(pet: Pet | undefined): void;
  reject(error: unknown): void;
}

/** Finds pets by their ids. The calls of one turn of the event loop share statements. */
export function groupedGets(read: Read): (id: bigint) => Promise<Pet | undefined> {
  let waiting: WaitingGet[] = [];

  function sendAll(): void {
    const gets = waiting;
    waiting = [];
    for (let start = 0; start < gets.length; start += PETS_PER_STATEMENT) {
      void send(gets.slice(start, start + PETS_PER_STATEMENT));
    }
  }

  async function send(gets: readonly WaitingGet[]): Promise<void> {
    try {
      const rows = await read(statementFor(gets.map(({ id }) => id)));
      const found = new Map(rows.map((row) => [row[0], petOf(row)]));
      for (const { id, resolve } of gets) resolve(found.get(id));
    } catch (error) {
      for (const { reject } of gets) reject(error);
    }
  }

  return (id) =>
    new Promise((resolve, reject) => {
      if (waiting.push({ id, resolve, reject }) === 1) afterThisTurn(sendAll);
    });
}

function statementFor(ids: readonly bigint[]): SqlStatement {
  // PostgreSQL plans a statement with an array for each execution, and one without an array only once.
  if (ids.length === 1)
    return { name: 'find-one', text: `SELECT ${COLUMNS} FROM pets WHERE id = $1`, values: [...ids] };
  const text = `SELECT ${COLUMNS} FROM pets WHERE id = ANY ($1::bigint[])`;
  return { name: 'find', text, values: [`{${ids.join()}}`] };
}
