import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { backupTarget, moveToTarget } from '../../../../src/adapters/sqlite/maintenance/backup-target.ts';
import { refusal } from '../../../support/refusal.ts';
import { replaceFs, systemError } from '../../../support/replace-fs.ts';
import { makeStore, temporaryFile } from '../temporary-file.ts';

let store: string;
let file: string;
let copy: string;

beforeEach(() => {
  store = temporaryFile();
  makeStore(store);
  file = join(dirname(store), 'copy.db');
  copy = join(dirname(store), 'copy.partial');
  writeFileSync(copy, 'the copy');
});

describe('before the copy is made', () => {
  test.each([true, false])(
    'the store, a folder and companion files are refused, overwrite: %s',
    (overwrite) => {
      const refuses = (target: string, message: string) =>
        expect(() => backupTarget(target, store, overwrite)).toThrow(refusal(message));
      refuses(store, `${store} belongs to the store`);
      for (const folder of [dirname(store), `${file}/`]) {
        refuses(folder, `${folder}: expected the path of a file, got a directory`);
      }
      for (const suffix of ['-journal', '-wal', '-shm']) {
        const target = file + suffix;
        const link = `${file}.link${suffix.slice(1)}`;
        writeFileSync(target, '');
        symlinkSync(target, link);
        for (const name of [target, link]) {
          const reason = 'SQLite would treat the backup as a part of another database and delete it';
          refuses(name, `${name} ends in ${suffix}: ${reason}`);
        }
        refuses(file, `${target} exists: SQLite would treat it as a part of the backup`);
        rmSync(target);
      }
    },
  );

  test('an existing file is refused without overwrite', () => {
    writeFileSync(file, '');
    expect(() => backupTarget(file, store, false)).toThrow(refusal(`${file} exists already`));
    expect(backupTarget(file, store, true).path).toBe(file);
  });

  test('a symbolic link without a target is refused', () => {
    symlinkSync('missing', file);
    expect(() => backupTarget(file, store, true)).toThrow(refusal(/not a regular file/));
  });
});

describe('when the copy is finished', () => {
  const takes: [string, () => void][] = [
    ['with hard links', () => {}],
    ['without hard links', withoutHardLinks],
  ];

  /** Makes each attempt to create a hard link fail, as on a FAT file system. */
  function withoutHardLinks(): void {
    replaceFs('linkSync', () => {
      throw systemError('EPERM');
    });
  }

  test.each(takes)('it gets the name of the target: %s', (_, prepare) => {
    prepare();
    moveToTarget(copy, backupTarget(file, store, false));
    expect(readFileSync(file, 'utf8')).toBe('the copy');
  });

  test('it replaces the target with overwrite', () => {
    writeFileSync(file, 'old');
    moveToTarget(copy, backupTarget(file, store, true));
    expect(readFileSync(file, 'utf8')).toBe('the copy');
    expect(existsSync(copy)).toBe(false);
  });

  test('a companion file that was created meanwhile is refused', () => {
    for (const overwrite of [false, true]) {
      const target = backupTarget(file, store, overwrite);
      writeFileSync(`${file}-journal`, '');
      expect(() => moveToTarget(copy, target)).toThrow(refusal(/copy.db-journal exists/));
      expect(existsSync(file)).toBe(false);
      rmSync(`${file}-journal`);
    }
  });

  test('a folder that was created meanwhile is refused', () => {
    const target = backupTarget(file, store, true);
    mkdirSync(file);
    expect(() => moveToTarget(copy, target)).toThrow(refusal(/got a directory/));
    expect(existsSync(copy)).toBe(true);
  });

  test.each([
    ['with hard links', undefined],
    ['without hard links', 'EPERM'],
  ])('a file that is created at the last moment is not replaced: %s', (_, code) => {
    const target = backupTarget(file, store, false);
    const link = replaceFs('linkSync', (from, to) => {
      writeFileSync(file, 'precious');
      if (code !== undefined) throw systemError(code);
      link(from, to);
    });
    expect(() => moveToTarget(copy, target)).toThrow(refusal(/exists already/));
    expect(readFileSync(file, 'utf8')).toBe('precious');
    expect(readFileSync(copy, 'utf8')).toBe('the copy');
  });

  test('the error of a folder that cannot have the file is thrown', () => {
    const folder = join(dirname(store), 'removed');
    mkdirSync(folder);
    const target = backupTarget(join(folder, 'copy.db'), store, false);
    rmSync(folder, { recursive: true });
    expect(() => moveToTarget(copy, target)).toThrow(expect.objectContaining({ code: 'ENOENT' }));
    expect(existsSync(copy)).toBe(true);
  });
});
