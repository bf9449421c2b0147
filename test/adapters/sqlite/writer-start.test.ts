import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { temporaryFile } from './temporary-file.ts';

/** A module that makes every thread, but not the main thread, load native code slowly, and print when it has loaded it. */
const SLOW_LOADING = `
  import { writeSync } from 'node:fs';
  import { isMainThread } from 'node:worker_threads';
  const { dlopen } = process;
  if (!isMainThread) process.dlopen = (...args) => {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
    dlopen(...args);
    writeSync(1, 'loaded');
  };
`;

/** A program that opens a storage and never closes it. */
const PROGRAM = `
  import { openSqliteStorage } from '${new URL('../../../src/adapters/sqlite/index.ts', import.meta.url)}';
  globalThis.storage = openSqliteStorage(process.argv[1]);
`;

test('a process that ends while the thread loads the SQLite driver waits for it', async () => {
  const env = { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(SLOW_LOADING)}` };
  const args = ['--input-type=module', '--eval', PROGRAM, temporaryFile()];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env });
  expect(stdout).toBe('loaded');
});

test('where no thread may start, the storage says so, and leaves no connection behind', async () => {
  const program = `
    import { existsSync } from 'node:fs';
    import { openSqliteStorage } from '${new URL('../../../src/adapters/sqlite/index.ts', import.meta.url)}';
    import { REX } from '${new URL('../../support/pets.ts', import.meta.url)}';
    const code = ({ code, message }) => console.log(code, message);
    try { openSqliteStorage(process.argv[1]); } catch (error) { code(error); }
    // The last connection removes the log.
    console.log(existsSync(process.argv[1] + '-wal'));
    const { idempotentCreates } = openSqliteStorage(process.argv[1], { startWriter: false });
    await idempotentCreates.add(REX, { caller: '1', key: 'a', validFor: 1 }).catch(code);
  `;
  const permissions = ['--permission', '--allow-addons', '--allow-fs-read=*', '--allow-fs-write=*'];
  const args = [...permissions, '--input-type=module', '--eval', program, temporaryFile()];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  const refused = /^storage_unavailable \S+: (a thread cannot start: .*\n)false\nstorage_unavailable \1$/;
  expect(stdout).toMatch(refused);
});
