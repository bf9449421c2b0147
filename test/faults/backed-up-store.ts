import { readdirSync } from 'node:fs';
import Database from 'better-sqlite3';
import { expect } from 'vitest';
import { examineSqliteStore, openSqliteStorage } from '../../src/adapters/sqlite/index.ts';
import { addPets, makeStore, REX } from '../adapters/sqlite/temporary-file.ts';
import { Workspace } from '../e2e/workspace.ts';
import type { RunningProcess } from '../support/process.ts';

/** A workspace whose store has one pet more than its backup `backup.db`. */
export class BackedUpStore {
  readonly work: Workspace = new Workspace();
  readonly pets: number;

  private constructor(pets: number) {
    this.pets = pets;
  }

  static async create(pets: number): Promise<BackedUpStore> {
    const created = new BackedUpStore(pets);
    const { work } = created;
    makeStore(work.store, pets);
    const storage = openSqliteStorage(work.store, { startWriter: false });
    await storage.backup?.(work.path('backup.db'));
    await storage.close();
    created.addPet();
    return created;
  }

  addPet(): void {
    addPets(this.work.store, 1, { ...REX, name: 'Later' });
  }

  /** Starts a restore of the backup. */
  startRestore(): RunningProcess {
    return this.work.start(['restore', '--force', 'backup.db']);
  }

  /** Whether a restore has begun to copy the backup. */
  get isBeingCopied(): boolean {
    return readdirSync(this.work.folder).some((name) => name.endsWith('.partial'));
  }

  /** Returns whether the store is the restored one. Expects it to be sound, and to be the old one otherwise. */
  isRestored(): boolean {
    const { store } = this.work;
    const db = new Database(store).defaultSafeIntegers(true);
    const counts = db.prepare('SELECT name, count(*) AS count FROM pets GROUP BY name ORDER BY name');
    const contents = counts.all();
    db.close();
    const later = { name: 'Later', count: 1n };
    const isRestored = contents.length === 1;
    expect(contents).toEqual([...(isRestored ? [] : [later]), { name: REX.name, count: BigInt(this.pets) }]);
    expect(examineSqliteStore(store)).toMatchObject({
      isSound: true,
      pets: this.pets + (isRestored ? 0 : 1),
    });
    return isRestored;
  }
}
