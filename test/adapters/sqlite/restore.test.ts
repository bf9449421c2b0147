import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  fstatSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  examineSqliteBackup,
  examineSqliteStore,
  openSqliteStorage,
  restoreSqliteStore,
} from '../../../src/adapters/sqlite/index.ts';
import { SCHEMA_VERSION } from '../../../src/adapters/sqlite/schema.ts';
import { ApiKeys } from '../../../src/application/api-keys.ts';
import type { ApiKey } from '../../../src/domain/api-key.ts';
import { INT64_MAX } from '../../../src/domain/int64.ts';
import { IS_SHORT } from '../../support/extent.ts';
import { EXPECTED_TABLE, insertPet } from '../../support/pets.ts';
import { refuseToOpen, replaceFs, systemError, watchSyncs } from '../../support/replace-fs.ts';
import { connect } from '../../support/sqlite.ts';
import {
  addPets,
  countIn,
  execute,
  makeStore,
  newStore,
  openStorage,
  REX,
  temporaryFile,
} from './temporary-file.ts';

const DRIVER = fileURLToPath(new URL('../../../node_modules/better-sqlite3/lib/index.js', import.meta.url));

/** Opens the store in another process, which holds its connection until it is killed. Resolves when it is open. */
async function openElsewhere(path: string): Promise<() => Promise<void>> {
  const script = `
    import Database from ${JSON.stringify(DRIVER)};
    const db = new Database(${JSON.stringify(path)});
    db.prepare('SELECT count(*) FROM pets').get();
    console.log('open');
    setInterval(() => db.open, 1000);`;
  const args = ['--input-type=module', '-e', script];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  return async () => {
    child.kill('SIGKILL');
    await once(child, 'close');
  };
}

const [REUSED_PETS, REUSED_KEYS, UNREAD_PETS, UNREAD_REMOVALS, UNREAD_KEYS] = [
  'ids of pets that the replaced store has assigned can be assigned again',
  'ids of api_keys that the replaced store has assigned can be assigned again',
  'the pets of the replaced store cannot be read: the backup can lack some',
  'the removals of the replaced store cannot be read: removed pets can be back',
  'the keys of the replaced store cannot be read: check that no revoked key is valid again',
].map((message) => ({ severity: 'warning', message }));

/** Overwrites the first page of a table. */
function damageTable(path: string, table: string): void {
  const db = connect(path);
  const page = Number(db.prepare('SELECT rootpage FROM sqlite_schema WHERE name = ?').pluck().get(table));
  db.close();
  const bytes = readFileSync(path);
  writeFileSync(path, bytes.fill(0xa5, (page - 1) * 4096, page * 4096));
}

async function backupOf(path: string): Promise<string> {
  const file = temporaryFile();
  const storage = openSqliteStorage(path, { startWriter: false });
  await storage.backup?.(file);
  await storage.close();
  return file;
}

test.each([
  ['the store', () => newStore(1)],
  ['a new store', temporaryFile],
])('while a restore runs, %s cannot be opened', { skip: IS_SHORT }, async (_, fileFor) => {
  const [path, backup] = [fileFor(), await backupOf(newStore(2))];
  const opening = () => openSqliteStorage(path);
  const onProgress = vi.fn(() => expect(opening).toThrow('is locked by another process'));
  await restoreSqliteStore(path, backup, { overwrite: true, onProgress });
  expect(onProgress).toHaveBeenCalled();
  expect(countIn(path)).toBe(2n);
});

test('a store that is idle in another process is in use', async () => {
  const path = newStore(3);
  const backup = await backupOf(path);
  const end = await openElsewhere(path);
  await expect(restoreSqliteStore(path, backup, { overwrite: true })).rejects.toMatchObject({
    code: 'storage_unavailable',
    message: `${path} is in use by another process: stop the server before the restore`,
  });
  await end();
  expect(await restoreSqliteStore(path, backup, { overwrite: true })).toMatchObject({ pets: 3 });
});

test.each([
  ['no store', () => {}],
  ['an empty file', (path: string) => writeFileSync(path, '')],
])('where there is %s, nothing is compared and nothing needs `overwrite`', async (_, make) => {
  const backup = await backupOf(newStore(2));
  const path = temporaryFile();
  make(path);
  const restored = { pets: 2, lastId: 2n, lost: undefined, revivedKeys: [], problems: [] };
  expect(await restoreSqliteStore(path, backup)).toMatchObject(restored);
});

test('the copy is durable before it gets its name, and the name before the restore resolves', async () => {
  const backup = await backupOf(newStore(2));
  const path = temporaryFile();
  const synced: unknown[] = [];
  await watchSyncs((descriptor) => {
    synced.push({ isFolder: fstatSync(descriptor).isDirectory(), isNamed: statSync(path).size > 0 });
  });
  await restoreSqliteStore(path, backup);
  expect(synced[0]).toEqual({ isFolder: false, isNamed: false });
  expect(synced.at(-1)).toEqual({ isFolder: true, isNamed: true });
});

test('an exception of onProgress ends the restore, and the caller gets it unchanged', async () => {
  const [path, backup, thrown] = [newStore(1), await backupOf(newStore(2)), new Error('the reason')];
  const onProgress = () => {
    throw thrown;
  };
  const restoring = restoreSqliteStore(path, backup, { overwrite: true, onProgress });
  await expect(restoring).rejects.toBe(thrown);
  expect(countIn(path)).toBe(1n);
});

test('an aborted restore leaves no folder that it has created', async () => {
  const [folder, backup] = [dirname(temporaryFile()), await backupOf(newStore(2))];
  const abort = new AbortController();
  const options = { signal: abort.signal, onProgress: () => abort.abort() };
  const restoring = restoreSqliteStore(join(folder, 'a', 'b', 'pets.db'), backup, options);
  await expect(restoring).rejects.toMatchObject({ name: 'AbortError' });
  expect(readdirSync(folder)).toEqual([]);
});

test.each([
  ['a store', (path: string) => makeStore(path, 1)],
  ['a journal', (path: string) => writeFileSync(`${path}-journal`, 'the last writes')],
])('a restore over %s in a folder that cannot be read fails, and changes nothing', async (_, make) => {
  const [path, backup] = [temporaryFile(), await backupOf(newStore(2))];
  make(path);
  const before = readdirSync(dirname(path));
  refuseToOpen(dirname(path));
  await expect(restoreSqliteStore(path, backup, { overwrite: true })).rejects.toThrow(/: EACCES$/);
  expect(readdirSync(dirname(path))).toEqual(before);
});

describe('the replaced store', () => {
  test('is kept if it has the schema of another release, in which pets can have further attributes', async () => {
    const path = newStore(3);
    const backup = await backupOf(path);
    await restoreSqliteStore(path, backup, { overwrite: true });
    execute(path, `PRAGMA user_version = ${SCHEMA_VERSION - 1}`);
    const { setAside } = await restoreSqliteStore(path, backup, { overwrite: true });
    expect(setAside).toEqual([`${path}.before-restore-2`]);
  });

  test('is kept by every restore that replaces other pets, and can be restored itself', async () => {
    const path = newStore(3);
    const backup = await backupOf(path);
    const [kept, second] = [`${path}.before-restore`, `${path}.before-restore-2`];
    for (const [file, count] of Object.entries({ [kept]: 4, [second]: 2 })) {
      addPets(path, count, REX);
      const { setAside } = await restoreSqliteStore(path, backup, { overwrite: true });
      expect(setAside).toEqual([file]);
      expect((await restoreSqliteStore(path, backup, { overwrite: true })).setAside).toEqual([]);
      expect(countIn(path)).toBe(3n);
      expect(countIn(file)).toBe(3n + BigInt(count));
    }
    const again = await restoreSqliteStore(path, kept, { overwrite: true });
    expect(again).toMatchObject({ pets: 7, lost: { pets: 0, apiKeys: 0 } });
    expect([countIn(path), countIn(`${kept}-3`)]).toEqual([7n, 3n]);
    replaceFs('linkSync', () => {
      throw systemError('EPERM');
    });
    await restoreSqliteStore(path, second, { overwrite: true });
    expect([kept, second, `${kept}-3`, `${kept}-4`].map(countIn)).toEqual([7n, 5n, 3n, 7n]);
  });

  test('is compared with the backup: what it lacks, and which pets and keys it brings back', async () => {
    const path = newStore(3);
    const storage = openStorage(path);
    const keys = new ApiKeys(storage.apiKeys);
    const [first, second, third] = [await keys.create('a'), await keys.create('b'), await keys.create('c')];
    const rotated = await keys.create('d');
    await keys.revoke(third.about.id);
    await storage.changes.remove(1n, 1n);
    const backup = temporaryFile();
    await storage.backup?.(backup);
    await keys.revoke(first.about.id);
    await keys.rotate(second.about.id, 1);
    await keys.rotate(rotated.about.id, 3_600_000);
    await keys.revoke(third.about.id);
    await storage.pets.add(REX);
    await storage.changes.remove(2n, 2n);
    await storage.close();
    const restored = await restoreSqliteStore(path, backup, { overwrite: true });
    expect(restored).toMatchObject({ lost: { pets: 1, apiKeys: 2 }, revivedPets: 1 });
    const named = ({ id, name, prefix }: ApiKey) => ({ id, name, prefix });
    expect(restored.revivedKeys).toEqual([first, second, rotated].map(({ about }) => named(about)));
    const { pets, apiKeys } = openStorage(path);
    expect((await pets.add(REX)).id).toBe(7n);
    // The rotations have assigned two ids.
    expect((await new ApiKeys(apiKeys).create('e')).about.id).toBe('7');
  });

  test.each([
    ['pets', { apiKeys: 0 }, ['1'], [UNREAD_PETS]],
    ['api_keys', { pets: 1 }, [], [UNREAD_KEYS]],
    ['sqlite_sequence', { pets: 1, apiKeys: 0 }, ['1'], [REUSED_PETS, REUSED_KEYS]],
  ])(
    'is compared in its other parts, and its ids continue, when its table %s cannot be read',
    async (table, lost, ids, problems) => {
      const path = newStore(500);
      const storage = openStorage(path);
      const keys = new ApiKeys(storage.apiKeys);
      await keys.create('a');
      const backup = temporaryFile();
      await storage.backup?.(backup);
      await keys.revoke('1');
      await storage.pets.add(REX);
      await storage.close();
      damageTable(path, table);
      const restored = await restoreSqliteStore(path, backup, { overwrite: true });
      expect(restored).toMatchObject({ lost, problems });
      expect(restored.lastId).toBe(table === 'sqlite_sequence' ? 500n : 501n);
      expect(restored.revivedKeys.map((key) => key.id)).toEqual(ids);
    },
  );

  test.each(EXPECTED_TABLE)(
    'has a pet that the backup lacks when its $column is another',
    async ({ column, accepted }) => {
      const path = newStore();
      execute(path, insertPet(accepted[0]));
      const backup = await backupOf(path);
      const same = await restoreSqliteStore(path, backup, { overwrite: true });
      expect(same.lost?.pets).toBe(0);
      execute(path, `DELETE FROM pets; ${insertPet({ id: 1n, ...accepted[1] })}`);
      const other = await restoreSqliteStore(path, backup, { overwrite: true });
      expect(other.lost?.pets, column).toBe(1);
    },
  );

  test('is compared by the attributes that both stores have', async () => {
    const path = newStore(2);
    const backup = await backupOf(path);
    execute(path, "ALTER TABLE pets ADD COLUMN _colour TEXT; UPDATE pets SET _colour = 'red'");
    expect(await restoreSqliteStore(path, backup, { overwrite: true })).toMatchObject({ lost: { pets: 0 } });
  });

  test.each([
    ['a damaged file', (path: string) => writeFileSync(path, 'hello, world\n'.repeat(1000)), ['']],
    [
      'an empty file and a journal',
      (path: string) => {
        writeFileSync(path, '');
        writeFileSync(`${path}-journal`, 'the last writes');
      },
      ['-journal'],
    ],
    [
      'a journal without its file',
      (path: string) => writeFileSync(`${path}-journal`, 'the last writes'),
      ['-journal'],
    ],
  ])('that is %s is replaced only with `overwrite`, and kept', async (_, damage, suffixes) => {
    const backup = await backupOf(newStore(3));
    const path = temporaryFile();
    damage(path);
    await expect(restoreSqliteStore(path, backup)).rejects.toThrow(`${path} cannot be read as a store`);
    const { setAside, problems } = await restoreSqliteStore(path, backup, { overwrite: true });
    expect(problems).toEqual([REUSED_PETS, REUSED_KEYS, UNREAD_PETS, UNREAD_REMOVALS, UNREAD_KEYS]);
    expect(setAside).toEqual(suffixes.map((suffix) => `${path}.before-restore${suffix}`));
    for (const file of setAside) expect(existsSync(file)).toBe(true);
    expect(countIn(path)).toBe(3n);
  });

  test.each([
    ['without the table of pets', 'DROP TABLE pets', / cannot be read as a store/, { pets: 3 }],
    // So that an upgrade can be undone.
    ['of a newer release', 'PRAGMA user_version = 99', / has 1 pet$/, { lost: { pets: 0 } }],
  ])('%s is replaced only with `overwrite`', async (_, sql, reason, restored) => {
    const [path, backup] = [newStore(1), await backupOf(newStore(3))];
    execute(path, sql);
    await expect(restoreSqliteStore(path, backup)).rejects.toThrow(reason);
    expect(await restoreSqliteStore(path, backup, { overwrite: true })).toMatchObject(restored);
  });

  test('leaves the restored one its ids when it has assigned the last one', async () => {
    const backup = await backupOf(newStore(3));
    const path = newStore(1);
    execute(path, `UPDATE sqlite_sequence SET seq = ${INT64_MAX} WHERE name = 'pets'`);
    const restored = await restoreSqliteStore(path, backup, { overwrite: true });
    expect(restored).toMatchObject({ lastId: 3n, problems: [REUSED_PETS] });
    expect((await openStorage(path).pets.add(REX)).id).toBe(4n);
  });

  test('that is a folder is refused', async () => {
    const backup = await backupOf(newStore(1));
    const folder = dirname(temporaryFile());
    await expect(restoreSqliteStore(folder, backup)).rejects.toThrow(`${folder} is not a regular file`);
  });
});

test.each([
  ['nothing', () => {}, 'there is no such file'],
  [
    'a text',
    (file: string) => writeFileSync(file, 'hello, world\n'.repeat(1000)),
    'is not a backup of a store',
  ],
  ['another database', (file: string) => execute(file, 'CREATE TABLE t (x)'), 'is not a backup of a store'],
  [
    'a newer schema',
    (file: string) => {
      makeStore(file, 1);
      execute(file, 'PRAGMA journal_mode = DELETE; PRAGMA user_version = 99');
    },
    'schema version 99',
  ],
])('a file with %s is no backup, and the store is unchanged', async (_, make, reason) => {
  const path = newStore(2);
  const file = temporaryFile();
  make(file);
  const refused = { code: 'invalid_request', message: expect.stringContaining(reason) };
  await expect(restoreSqliteStore(path, file, { overwrite: true })).rejects.toMatchObject(refused);
  expect(() => examineSqliteBackup(path, file)).toThrow(reason);
  expect(countIn(path)).toBe(2n);
  const other = temporaryFile();
  await expect(restoreSqliteStore(other, file)).rejects.toMatchObject(refused);
  expect(readdirSync(dirname(other))).toEqual([]);
});

/** A file system without hard links, in which every other process tries to open the store after each step. */
test('without hard links, the lock is held until the restore ends', async () => {
  const [path, backup] = [newStore(2), await backupOf(newStore(3))];
  const kept = `${path}.before-restore`;
  let opened = '';
  replaceFs('linkSync', () => {
    throw systemError('EPERM');
  });
  await watchSyncs((descriptor) => {
    if (existsSync(kept) && fstatSync(descriptor).isFile()) opened = openInProcess(path);
  });
  await restoreSqliteStore(path, backup, { overwrite: true });
  expect(opened).toBe('SQLITE_BUSY');
  expect([countIn(path), countIn(kept)]).toEqual([3n, 2n]);
});

/** Returns the code of the error of another process that opens the store. */
function openInProcess(path: string): string {
  const script = `
    import Database from ${JSON.stringify(DRIVER)};
    try {
      new Database(${JSON.stringify(path)}, { timeout: 0 }).prepare('SELECT count(*) FROM pets').get();
    } catch ({ code }) {
      process.stdout.write(code);
    }`;
  return `${execFileSync(process.execPath, ['--input-type=module', '-e', script])}`;
}

/** Replaces the file as a restore does, unless a process has locked it. Returns a connection that has written to the new file. */
function replaceStore(path: string): Database.Database | undefined {
  const [old, restored] = [new Database(path, { timeout: 0 }), newStore(1)];
  try {
    old.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
    renameSync(restored, path);
  } catch {
    return undefined;
  } finally {
    old.close();
  }
  const server = new Database(path);
  server.exec(insertPet(REX));
  return server;
}

const restoreOther = async (path: string) =>
  restoreSqliteStore(path, await backupOf(newStore(3)), { overwrite: true });

describe.each([1, 2, 3, 4, 5, 6, 7, 8])(
  'a process that stops after its look %i at the identity of a file',
  (stop) => {
    test.each([
      ['restores', async (path: string) => void (await restoreOther(path))],
      ['serves', async (path: string) => openSqliteStorage(path).close()],
    ])('and then %s it changes nothing of a new file', async (_, open) => {
      const path = newStore(5);
      execute(path, 'PRAGMA journal_mode = DELETE');
      let server: Database.Database | undefined;
      let looks = 0;
      const stat = replaceFs('statSync', ((file: string, options: object) => {
        const stats = stat(file, options);
        if (file === path && 'bigint' in options && ++looks === stop) server = replaceStore(path);
        return stats;
      }) as typeof statSync);
      const opened = open(path).catch(({ message }: Error) => message);
      if ((await opened) === undefined) return expect(server).toBeUndefined();
      expect(await opened).toMatch(/was replaced while|is in use/);
      server?.exec(insertPet(REX));
      server?.close();
      expect(countIn(path)).toBe(3n);
    });
  },
);

test('a write-ahead log beside a backup belongs to another file, and is not applied to it', async () => {
  const [backup, path] = [await backupOf(newStore(3)), newStore(2)];
  const server = new Database(path);
  server.exec(insertPet(REX));
  copyFileSync(backup, `${path}.new`);
  renameSync(`${path}.new`, path);
  const log = statSync(`${path}-wal`).size;
  const message = `${path}-wal belongs to another file: stop all servers, then move it away`;
  expect(() => openSqliteStorage(path)).toThrow(message);
  const problem = { severity: 'error', message: `${path}: ${message}` };
  expect(examineSqliteStore(path).problems).toContainEqual(problem);
  await expect(restoreSqliteStore(path, backup, { overwrite: true })).rejects.toThrow(message);
  expect(statSync(`${path}-wal`).size).toBe(log);
  renameSync(`${path}-wal`, `${path}.old`);
  expect(countIn(path)).toBe(3n);
  expect(readdirSync(dirname(path)).filter((file) => file.includes('partial'))).toEqual([]);
  server.close();
});

test('a write-ahead log beside a locked store belongs to another file, and is not moved', async () => {
  const [path, backup] = [newStore(2), await backupOf(newStore(3))];
  const stat = replaceFs('statSync', ((file: string, options: object) =>
    file === `${path}-wal` ? { size: 9 } : stat(file, options)) as typeof statSync);
  const restoring = restoreSqliteStore(path, backup, { overwrite: true });
  await expect(restoring).rejects.toThrow(`${path}-wal belongs to another file`);
});
