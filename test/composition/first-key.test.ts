/** The variable FIRST_KEY: what happens to the first key of a store. */

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { loadConfig } from '../../src/composition/config.ts';
import { createFirstKey } from '../../src/composition/first-key.ts';
import { type Service, startService } from '../../src/composition/service.ts';
import { API_KEY_BYTES, formatApiKey, isApiKey } from '../../src/domain/api-key.ts';
import { temporaryFolder } from '../support/process.ts';
import { STORAGES, type StorageKind } from '../support/server.ts';

const OPERATOR_KEY = 'operator-key-of-32-characters-or-more';
const KEY = formatApiKey(new Uint8Array(API_KEY_BYTES));

function environmentOf(kind: StorageKind, folder: string) {
  const DATABASE_URL = kind === 'memory' ? 'memory:' : `sqlite:${join(folder, 'pets.db')}`;
  return { PORT: '0', LOG_LEVEL: 'silent', SHUTDOWN_TIMEOUT_MS: '100', DATABASE_URL };
}

async function start(environment: Record<string, string>): Promise<Service> {
  const service = await startService(loadConfig(environment), '1.0.0');
  onTestFinished(() => service.stop());
  return service;
}

async function statusWith({ url }: Service, key: string): Promise<number> {
  const headers = { Authorization: `Bearer ${key}`, Connection: 'close' };
  return (await fetch(`${url}/pets`, { headers })).status;
}

describe.each(STORAGES)('FIRST_KEY with %s', (kind) => {
  test('file:PATH writes the key to a file that only its owner can read', async () => {
    const folder = temporaryFolder();
    const file = join(folder, 'first-key');
    const service = await start({ ...environmentOf(kind, folder), FIRST_KEY: `file:${file}` });
    expect([service.firstKey, service.firstKeyFile]).toEqual([undefined, file]);
    const key = readFileSync(file, 'utf8');
    expect(isApiKey(key.trim())).toBe(true);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(await statusWith(service, key.trim())).toBe(200);
  });

  test('none creates no key', async () => {
    const folder = temporaryFolder();
    const service = await start({ ...environmentOf(kind, folder), FIRST_KEY: 'none' });
    expect([service.firstKey, service.firstKeyFile]).toEqual([undefined, undefined]);
  });

  test('print shows the key', async () => {
    const service = await start({ ...environmentOf(kind, temporaryFolder()), FIRST_KEY: 'print' });
    expect(service.firstKeyFile).toBeUndefined();
    expect(await statusWith(service, service.firstKey?.key ?? '')).toBe(200);
  });

  test('replaces the key of an earlier store, and writes into an empty file', async () => {
    const file = join(temporaryFolder(), 'first-key');
    writeFileSync(file, '');
    let last = '';
    for (let count = 0; count < 2; count++) {
      const service = await start({ ...environmentOf(kind, temporaryFolder()), FIRST_KEY: `file:${file}` });
      const key = readFileSync(file, 'utf8').trim();
      expect(key).not.toBe(last);
      expect(await statusWith(service, key)).toBe(200);
      last = key;
    }
  });

  test('writes no file when API_KEYS has a key', async () => {
    const folder = temporaryFolder();
    const file = join(folder, 'first-key');
    const environment = { ...environmentOf(kind, folder), FIRST_KEY: `file:${file}`, API_KEYS: OPERATOR_KEY };
    expect((await start(environment)).firstKeyFile).toBeUndefined();
    expect(existsSync(file)).toBe(false);
  });
});

describe('FIRST_KEY=file:PATH', () => {
  test('leaves the file unchanged when the store has had a key', async () => {
    const folder = temporaryFolder();
    const file = join(folder, 'first-key');
    const environment = { ...environmentOf('sqlite', folder), FIRST_KEY: `file:${file}` };
    const first = await start(environment);
    await first.stop();
    const key = readFileSync(file, 'utf8');
    const second = await start(environment);
    expect(second.firstKeyFile).toBeUndefined();
    expect(readFileSync(file, 'utf8')).toBe(key);
    expect(await statusWith(second, key.trim())).toBe(200);
  });

  test.each([
    ['other text', (file: string) => writeFileSync(file, 'precious'), 'exists and does not contain a key'],
    ['a directory', (file: string) => mkdirSync(file), 'cannot be written: EISDIR'],
    ['a FIFO', (file: string) => spawnSync('mknod', [file, 'p']), 'is not a regular file'],
  ])('refuses %s, starts no server and creates no key', async (_, make, reason) => {
    const folder = temporaryFolder();
    const file = join(folder, 'first-key');
    make(file);
    const before = statSync(file, { bigint: true });
    const environment = environmentOf('sqlite', folder);
    await expect(start({ ...environment, FIRST_KEY: `file:${file}` })).rejects.toMatchObject({
      name: 'ConfigError',
      message: expect.stringContaining(`FIRST_KEY: the file ${file} ${reason}`),
    });
    const after = statSync(file, { bigint: true });
    expect([after.ino, after.mtimeNs]).toEqual([before.ino, before.mtimeNs]);
    expect((await start(environment)).firstKey).toBeDefined();
  });

  test('refuses a missing folder and a file of the store', async () => {
    const folder = temporaryFolder();
    const environment = environmentOf('sqlite', folder);
    for (const [file, reason] of [
      [join(folder, 'no', 'key'), 'cannot be written: ENOENT'],
      [join(folder, 'pets.db-journal'), 'belongs to the store'],
    ]) {
      await expect(start({ ...environment, FIRST_KEY: `file:${file}` })).rejects.toThrow(reason);
    }
    expect(readdirSync(folder)).toEqual(['pets.db']);
  });

  test('empties the file when another process has created the first key in the meantime', async () => {
    const folder = temporaryFolder();
    const file = join(folder, 'first-key');
    const config = loadConfig({ ...environmentOf('memory', folder), FIRST_KEY: `file:${file}` });
    const apiKeys = {
      createFirst: async (_: string, save: (key: string) => void) => {
        save(KEY);
        expect(readFileSync(file, 'utf8')).toBe(`${KEY}\n`);
        return undefined;
      },
    };
    const created = await createFirstKey(config, { apiKeys } as never);
    expect([created, readFileSync(file, 'utf8')]).toEqual([{}, '']);
  });
});
