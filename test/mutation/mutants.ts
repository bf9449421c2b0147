/** The mutants of the order of writes and reads, and of the promises about changes. */

export interface Mutant {
  readonly name: string;
  readonly file: string;
  readonly text: string;
  readonly replacement: string;
  /** The tests that must fail. By default, those of the contract of histories on the storage of the file. */
  readonly tests?: readonly string[];
}

export const MUTANTS: readonly Mutant[] = [
  {
    name: 'no lock in front of the ids',
    file: 'src/adapters/postgres/pets.ts',
    text: `export const ORDER: string = \`ordered AS MATERIALIZED (\${TAKE_ORDER})\``,
    replacement: "export const ORDER: string = 'ordered AS MATERIALIZED (SELECT 1)'",
    tests: ['test/adapters/postgres/order.test.ts', '-t', 'fit one order'],
  },
  {
    name: 'ids of an import that are drawn before the lock',
    file: 'src/adapters/postgres/pet-transfer.ts',
    text: `MODE; \${TAKE_ORDER}\``,
    replacement: 'MODE; SELECT 1`',
    tests: ['test/adapters/postgres/order.test.ts', '-t', 'an import waits'],
  },
  {
    name: 'a read from a standby, which lags',
    file: 'src/adapters/postgres/pet-repository.ts',
    text: 'isChanging = cache.enter(await shareVersion(',
    replacement: 'if (Math.random() < 0.5) isChanging = cache.enter(await shareVersion(',
  },
  {
    name: 'changes that do not wait for the lock of the order',
    file: 'src/adapters/postgres/pet-changes.ts',
    text: 'SELECT given.* FROM ordered, unnest',
    replacement: 'SELECT given.* FROM unnest',
    tests: ['test/adapters/postgres/order.test.ts', '-t', 'each create and each change'],
  },
  {
    name: 'changes that trust the snapshot of their statement',
    file: 'src/adapters/postgres/pet-changes.ts',
    text: '\n      WHERE known.revision = (SELECT _expected FROM new WHERE _id = known.pet_id)',
    replacement: '',
    tests: ['test/adapters/postgres/pet-changes.test.ts', '-t', 'after the snapshot'],
  },
  {
    name: 'changes in PostgreSQL without a comparison',
    file: 'src/adapters/postgres/pet-changes.ts',
    text: 'AND _expected = coalesce',
    replacement: 'AND 0 < coalesce',
    tests: ['test/adapters/postgres/contracts.test.ts', '-t', 'only the expected revision'],
  },
  {
    name: 'a list of SQLite without its filter',
    file: 'src/adapters/sqlite/pets.ts',
    text: 'const { columns, values } = conditionsOf(filter);',
    replacement: 'const { columns, values } = conditionsOf({});',
    tests: ['test/adapters/sqlite/contracts.test.ts', '-t', 'with another filter'],
  },
  {
    name: 'a key of the cache without the filter',
    file: 'src/adapters/sqlite/pet-repository.ts',
    text: 'const key = listQuery(query);',
    replacement: 'const key = listQuery({ limit: query.limit, after: query.after });',
    tests: ['test/adapters/sqlite/contracts.test.ts', '-t', 'with another filter'],
  },
  {
    name: 'a filter that is not compared',
    file: 'src/domain/pet-filter.ts',
    text: 'return PET_FILTERS.every(',
    replacement: 'return PET_FILTERS.slice(1).every(',
    tests: ['test/domain/pet-filter.test.ts'],
  },
  {
    name: 'a link without the filter',
    file: 'src/adapters/http/pets.ts',
    text: 'listQuery({ ...query, after: last.id })',
    replacement: 'listQuery({ limit: query.limit, after: last.id })',
    tests: ['test/adapters/http/every-storage.test.ts', '-t', 'every combination of parameters'],
  },
  {
    name: 'a page of the client without the filter',
    file: 'src/adapters/api-client/pet-repository.ts',
    text: 'listQuery(query)}`,',
    replacement: 'listQuery({ limit: query.limit, after: query.after })}`,',
    tests: ['test/adapters/api-client/contracts.test.ts', '-t', 'with another filter'],
  },
  {
    name: 'later pages of a walk without the filter',
    file: 'src/application/walk-pages.ts',
    text: 'readPage({ ...filter,',
    replacement: 'readPage({ ...(from === after && filter),',
    tests: ['test/application/filters.test.ts'],
  },
  {
    name: 'a replay that reads the row',
    file: 'src/adapters/storage-kit/records.ts',
    text: 'if (request === CREATE_REQUEST && pet !== undefined) return pet;',
    replacement:
      'if (request === CREATE_REQUEST && pet !== undefined) return row === undefined ? pet : petOf(row);',
    tests: ['test/adapters/sqlite/contracts.test.ts', '-t', 'keep their first responses'],
  },
  {
    name: 'a change without a comparison',
    file: 'src/adapters/sqlite/pet-changes.ts',
    text: '`? = (SELECT',
    replacement: '`? < (SELECT 1 +',
  },
  {
    name: 'a comparison before the transaction of the change',
    file: 'src/adapters/memory/pet-changes.ts',
    text: 'replace: async (pet, expected) => writeNow(pet.id, storedPet(pet.id, pet), expected),',
    replacement: `async replace(pet, expected) {
      if (findNow(pet.id)?.revision !== expected) return undefined;
      await undefined;
      return writeNow(pet.id, storedPet(pet.id, pet), findNow(pet.id)?.revision ?? 0n);
    },`,
  },
  {
    name: 'a record outside of the transaction of its change',
    file: 'src/adapters/sqlite/idempotent-writes.ts',
    text: 'return storeIf(condition, [recordStatement(id, pet, attempt, now), ...setPet(id, pet)], reads, writer);',
    replacement: `return storeIf(condition, setPet(id, pet), reads, writer).then(async (revision) => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      if (revision !== undefined) await writer.storeWrite(recordStatement(id, pet, attempt, now));
      return revision;
    });`,
    tests: ['test/adapters/sqlite/contracts.test.ts', '-t', 'increments'],
  },
  {
    name: 'a feed without a bound of rows',
    file: 'src/adapters/sqlite/pet-changes.ts',
    text: 'import {\n  changesPage,\n  EXAMINED_LIMIT,',
    replacement: 'const EXAMINED_LIMIT = 1e7;\nimport {\n  changesPage,',
    tests: ['test/adapters/sqlite/pet-changes.test.ts', '-t', 'a bounded number'],
  },
  {
    name: 'a feed that is not in the order of writes',
    file: 'src/adapters/sqlite/pet-changes.ts',
    text: 'const last = lastRevisionOf(changed, limit) ?? INT64_MAX;',
    replacement: 'const last = INT64_MAX;\n        changed.splice(limit);',
  },
  {
    name: 'a restore that keeps the epoch',
    file: 'src/adapters/sqlite/schema.ts',
    text: 'if (versionOf(db) > FIRST_VERSION) db.exec(BEGIN_EPOCH);',
    replacement: 'versionOf(db) > FIRST_VERSION;',
    tests: ['test/adapters/sqlite/pet-changes.test.ts', '-t', 'told of each restore'],
  },
  {
    name: 'a page cache that survives a commit',
    file: 'src/adapters/sqlite/pet-repository.ts',
    text: 'pages.enter(reads.version);',
    replacement: "pages.enter('always the same');",
  },
  {
    name: 'a snapshot that is not renewed',
    file: 'src/adapters/sqlite/reads.ts',
    text: 'if (this.db.inTransaction) this.#end.run();\n    this.#inTransaction = false;',
    replacement: '',
  },
  {
    name: 'a list with a filter that skips a pet',
    file: 'src/adapters/sqlite/pets.ts',
    text: "'id > ?'",
    replacement: "columns.length > 0 ? 'id > ? + 1' : 'id > ?'",
  },
  {
    name: 'a forgotten idempotency key',
    file: 'src/adapters/memory/idempotent-writes.ts',
    text: 'return record !== undefined && record',
    replacement: 'return record !== undefined && Math.random() < 0.9 && record',
  },
  {
    name: 'an id that is given twice',
    file: 'src/adapters/memory/pet-repository.ts',
    text: 'this.#push(this.lastId + 1n, pet)',
    replacement: 'this.#push(this.lastId + (this.lastId % 7n === 3n ? 0n : 1n), pet)',
  },
  {
    name: 'a create that is acknowledged before its commit',
    file: 'src/adapters/memory/pet-repository.ts',
    text: 'async add(pet: NewPet): Promise<Pet> {\n    return this.addNow(pet);',
    replacement:
      'async add(pet: NewPet): Promise<Pet> {\n    const id = (this.lastId += 1n);\n    setTimeout(() => this.#push(id, pet), 1);\n    return { ...pet, id };',
  },
];

/** Returns the arguments of Vitest for the tests that must fail. */
export function testsOf({ file, tests }: Mutant): readonly string[] {
  const [, storage] = /adapters\/(\w+)\//.exec(file) ?? [];
  return tests ?? [`test/adapters/${storage}/contracts.test.ts`, '-t', 'fit one order'];
}
