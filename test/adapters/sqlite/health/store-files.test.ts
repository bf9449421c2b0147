/** The checks of the files that a store has open. */

import {
  existsSync,
  mkdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import Database from 'better-sqlite3';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { plainError } from '../../../../src/adapters/sqlite/errors.ts';
import { databaseFiles } from '../../../../src/adapters/sqlite/files.ts';
import { Health } from '../../../../src/adapters/sqlite/health.ts';
import {
  assertSameFiles,
  assertWritable,
  CommitCheck,
  filesOf,
  type StoreFiles,
} from '../../../../src/adapters/sqlite/store-files.ts';
import { BatchRunner } from '../../../../src/adapters/sqlite/write/batch.ts';
import { temporaryFolder } from '../../../support/process.ts';
import { replaceFs, systemError } from '../../../support/replace-fs.ts';
import { connect } from '../../../support/sqlite.ts';
import { newStore, openFiles } from '../temporary-file.ts';
import { controlClock } from '../watched-storage.ts';

let path: string;
let db: Database.Database;
let files: StoreFiles;

beforeEach(() => {
  path = newStore(200);
  ({ db, files } = openFiles(path));
  return () => void db.close();
});

function fault(reason: string) {
  return expect.objectContaining({ code: 'storage_unavailable', reason });
}

/** The failure that `run` throws, as the writer thread reports it. */
function failureIn(run: () => void) {
  try {
    run();
    return undefined;
  } catch (error) {
    return plainError(error);
  }
}

function denyAccess(code: string): void {
  replaceFs('accessSync', () => {
    throw systemError(code);
  });
}

describe('the files of a store', () => {
  test('are found through a symbolic link', () => {
    const link = join(temporaryFolder(), 'link.db');
    symlinkSync(path, link);
    const { main, log, index } = filesOf(link);
    const real = realpathSync(path);
    expect([main.path, log.path, index.path]).toEqual([link, `${real}-wal`, `${real}-shm`]);
    expect([main.dev, main.ino]).toEqual([files.main.dev, files.main.ino]);
  });

  test('have absolute paths', () => {
    expect(filesOf(relative(process.cwd(), path)).main.path).toBe(path);
  });

  test.each(['', '-wal', '-shm'])('are each checked: pets.db%s', (suffix) => {
    assertSameFiles(files);
    renameSync(path + suffix, `${path}.away`);
    expect(() => assertSameFiles(files)).toThrow(fault('file_missing'));
    writeFileSync(path + suffix, '');
    expect(() => assertSameFiles(files)).toThrow(fault('file_replaced'));
    renameSync(`${path}.away`, path + suffix);
    assertSameFiles(files);
  });

  test.each(['EROFS', 'EACCES', 'EPERM'])('cannot be written after the error %s', (code) => {
    assertWritable(files);
    denyAccess(code);
    expect(() => assertWritable(files)).toThrow(fault('read_only'));
  });

  test('are not called read-only when they are missing', () => {
    denyAccess('ENOENT');
    assertWritable(files);
  });

  test.each([
    ['removed', () => renameSync(path, `${path}.away`)],
    ['replaced', () => renameSync(`${path}-shm`, path)],
    ['read-only', () => denyAccess('EACCES')],
    ['damaged', () => truncateSync(path, 4096)],
    ['empty', () => truncateSync(path)],
  ])('that are %s have a fault whose cause, and not its message, is for the operator', (_, harm) => {
    const check = new CommitCheck(files);
    harm();
    const failure = failureIn(() => {
      assertWritable(files);
      check.assertUnharmed();
    });
    expect(failure?.message).toMatch(/^the database file /);
    expect(failure?.message).not.toContain(path);
    expect(failure?.detail).toMatch(/pets\.db: .* or restart the service$|EACCES|malformed|empty/);
  });

  test('are replaced when the same inode number is on another device', () => {
    const main = { ...files.main, dev: files.main.dev + 1n };
    expect(() => assertSameFiles({ ...files, main })).toThrow(fault('file_replaced'));
  });

  test('have names that SQLite derives from the real path, also before they exist', () => {
    const folder = join(temporaryFolder(), 'folder');
    mkdirSync(folder);
    const link = join(temporaryFolder(), 'link');
    symlinkSync(folder, link);
    const named = (real: string) => [real, `${real}-journal`, `${real}-wal`, `${real}-shm`];
    expect(databaseFiles(join(link, 'pets.db'))).toEqual(named(join(realpathSync(folder), 'pets.db')));
    writeFileSync(join(folder, 'real.db'), '');
    symlinkSync('real.db', join(folder, 'pets.db'));
    expect(databaseFiles(join(link, 'pets.db'))).toEqual(named(join(realpathSync(folder), 'real.db')));
    const missing = join(folder, 'missing', 'pets.db');
    expect(databaseFiles(relative(process.cwd(), missing))).toEqual(named(missing));
  });
});

describe('the check before a commit', () => {
  test('accepts a store that nobody harmed', () => {
    const check = new CommitCheck(files);
    check.assertUnharmed();
    check.acceptCommit();
    check.assertUnharmed();
  });

  test('keeps no file open after an examination', () => {
    const check = new CommitCheck(files);
    utimesSync(path, 1, 1);
    check.assertUnharmed();
    db.close();
    expect(existsSync(files.log.path)).toBe(false);
  });

  test('finds a file that became smaller during the commit before', () => {
    const check = new CommitCheck(files);
    check.assertUnharmed();
    truncateSync(path, 4096);
    check.acceptCommit();
    expect(failureIn(() => check.assertUnharmed())).toEqual(fault('damaged'));
  });

  test('finds that pages are missing, although the write-ahead log says how many there are', () => {
    const check = new CommitCheck(files);
    db.exec('DELETE FROM pets WHERE id = 1');
    truncateSync(path, 4096);
    expect(failureIn(() => check.assertUnharmed())).toMatchObject({
      reason: 'damaged',
      detail: expect.stringMatching(/expected \d+ bytes, got 4096$/),
    });
  });

  test('does not read a file that has not changed, because each commit would wait for that', () => {
    const check = new CommitCheck(files);
    const prepare = vi.spyOn(Database.prototype, 'prepare');
    onTestFinished(() => prepare.mockRestore());
    check.assertUnharmed();
    check.acceptCommit();
    expect(prepare).not.toHaveBeenCalled();
    utimesSync(path, 1, 1);
    check.assertUnharmed();
    expect(prepare).toHaveBeenCalled();
  });

  test('finds a file that became smaller than after the last commit', () => {
    const check = new CommitCheck(files);
    const before = statSync(path).size;
    db.exec(`INSERT INTO probe VALUES (1, zeroblob(50000)); PRAGMA wal_checkpoint(TRUNCATE)`);
    check.acceptCommit();
    const { size } = statSync(path);
    expect(size - 4096).toBeGreaterThan(before);
    truncateSync(path, size - 4096);
    check.acceptCommit();
    expect(failureIn(() => check.assertUnharmed())).toEqual(fault('damaged'));
  });

  test('accepts a changed file while another process has locked it', () => {
    const locked = `${path}.locked`;
    const other = connect(locked);
    other.exec('CREATE TABLE t (x)');
    const { dev, ino } = statSync(locked, { bigint: true });
    const check = new CommitCheck({ ...files, main: { path: locked, dev, ino } });
    utimesSync(locked, 1, 1);
    other.exec('BEGIN EXCLUSIVE');
    check.assertUnharmed();
    other.exec('ROLLBACK');
    utimesSync(locked, 2, 2);
    expect(() => check.assertUnharmed()).toThrow('no such table');
  });

  test.each(['', '-wal', '-shm'])('finds that pets.db%s was removed during the commit before', (suffix) => {
    const check = new CommitCheck(files);
    check.assertUnharmed();
    rmSync(path + suffix);
    check.acceptCommit();
    expect(() => check.assertUnharmed()).toThrow(fault('file_missing'));
  });

  test('examines a file again after each change of another program', () => {
    const check = new CommitCheck(files);
    utimesSync(path, 1, 1);
    check.assertUnharmed();
    truncateSync(path, 4096);
    utimesSync(path, 1, 1);
    expect(failureIn(() => check.assertUnharmed())).toEqual(fault('damaged'));
    expect(failureIn(() => check.assertUnharmed())).toEqual(fault('damaged'));
  });
});

describe('the files before a read', () => {
  test('are checked every half second, and are trusted again when they are back', () => {
    controlClock();
    const states: unknown[] = [];
    const health = new Health(files, { onStorageState: (state) => states.push(state?.reason) });
    health.assertReadable();
    renameSync(path, `${path}.away`);
    vi.advanceTimersByTime(499);
    health.assertReadable();
    vi.advanceTimersByTime(1);
    expect(() => health.assertReadable()).toThrow(fault('file_missing'));
    renameSync(`${path}.away`, path);
    vi.advanceTimersByTime(499);
    expect(() => health.assertReadable()).toThrow(fault('file_missing'));
    expect(states).toEqual(['file_missing']);
    vi.advanceTimersByTime(1);
    health.assertReadable();
    expect(states).toEqual(['file_missing', undefined]);
  });
});

/** Checks a store whose tests find nothing else. */
function check(health: Health): Promise<void> {
  vi.advanceTimersByTime(500);
  return health.check(async () => {});
}

describe('a failed read', () => {
  beforeEach(controlClock);

  test('without a fault of the storage is not repeated', async () => {
    const health = new Health(files, {});
    const repeat = vi.fn();
    expect(health.readFailed(new TypeError('x'), repeat)).toMatchObject({ code: 'internal_error' });
    await check(health);
    expect(repeat).not.toHaveBeenCalled();
  });

  test('is not repeated when the fault was known before', async () => {
    const health = new Health(files, {});
    renameSync(path, `${path}.away`);
    const repeat = vi.fn();
    try {
      health.assertReadable();
    } catch (error) {
      expect(health.readFailed(error, repeat)).toBe(error);
    }
    await expect(check(health)).rejects.toMatchObject({ reason: 'file_missing' });
    expect(repeat).not.toHaveBeenCalled();
  });

  test('is repeated until it succeeds, and then no more', async () => {
    const health = new Health(files, {});
    const repeat = vi.fn().mockImplementationOnce(() => {
      throw new Error('still');
    });
    const error = Object.assign(new Error('x'), { code: 'SQLITE_IOERR_READ' });
    expect(health.readFailed(error, repeat)).toMatchObject({ reason: 'io_error' });
    await expect(check(health)).rejects.toMatchObject({ reason: 'io_error' });
    await check(health);
    await check(health);
    expect(repeat).toHaveBeenCalledTimes(2);
  });
});

test('a probe does not write when the file is read-only', () => {
  denyAccess('EACCES');
  const { failure, testWrites } = new BatchRunner(db, new CommitCheck(files)).probe(true);
  expect(failure).toMatchObject({ reason: 'read_only' });
  expect(testWrites).toEqual([]);
});
