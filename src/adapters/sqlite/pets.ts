import type Database from 'better-sqlite3';
import type { PetQuery } from '../../application/ports/pet-repository.ts';
import { INT64_MAX, INT64_MIN } from '../../domain/int64.ts';
import { type NewPet, PET_ATTRIBUTES, type Pet } from '../../domain/pet.ts';
import {
  ATTRIBUTE_COLUMNS,
  conditionsOf,
  PET_COLUMNS,
  type PetRow,
  petOf,
  valuesOf,
} from '../storage-kit/pet-rows.ts';
import type { SqlStatement } from './writer-thread.ts';

export const PARAMETERS: string = PET_ATTRIBUTES.map(() => '?').join(', ');

export const FIND_PET: string = `SELECT ${PET_COLUMNS} FROM pets WHERE id = ?`;
const ADD_PET = `INSERT INTO pets (${ATTRIBUTE_COLUMNS}) VALUES (${PARAMETERS})`;
const REPLACE_PET = `UPDATE pets SET (${ATTRIBUTE_COLUMNS}) = (${PARAMETERS}) WHERE id = ?`;

export function addPet(pet: NewPet): SqlStatement {
  return [ADD_PET, ...valuesOf(pet)];
}

export function replacePet(pet: Pet): SqlStatement {
  return [REPLACE_PET, ...valuesOf(pet), pet.id];
}

/** Returns a function that lists the matching pets with an id up to `last`. The function must be called within `Reads.read`. */
export function petLister(db: Database.Database): (query: PetQuery, last?: bigint) => Pet[] {
  const statements = new Map<string, Database.Statement<unknown[], PetRow>>();
  return ({ limit, after = INT64_MIN, ...filter }, last = INT64_MAX) => {
    const { columns, values } = conditionsOf(filter);
    const conditions = [...columns.map((column) => `${column} = ?`), 'id > ?', 'id <= ?'].join(' AND ');
    const sql = `SELECT ${PET_COLUMNS} FROM pets WHERE ${conditions} ORDER BY id LIMIT ?`;
    const statement = statements.get(sql) ?? db.prepare<unknown[], PetRow>(sql).raw();
    statements.set(sql, statement);
    return statement.all(...values, after, last, limit).map(petOf);
  };
}
