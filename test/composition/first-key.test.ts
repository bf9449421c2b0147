/** The variable FIRST_KEY: what happens to the first key of a store. */

import { spawnSync } from 'node:child_process';
import {
  chownSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openMemoryStorage } from '../../src/adapters/memory/index.ts';
import { AnimalStore } from '../../src/application/animal-store.ts';
import type { Environment } from '../../src/composition/config/settings.ts';
import { loadConfig } from '../../src/composition/config.ts';
import { createFirstKey } from '../../src/composition/first-key.ts';
import type { Service } from '../../src/composition/serve.ts';
import { isApiKey } from '../../src/domain/api-key.ts';
import { temporaryFolder } from '../support/process.ts';
import { STORAGES } from '../support/server.ts';
import { clientOf, environmentOf, startInProcess } from '../support/service.ts';

const PRIVATE = { mode: 0o600 };

async function statusWith(service: Service, key: string): Promise<number> {
  return (await clientOf(service, key).get('/v1/pets')).status;
}

test.each(STORAGES)(
  'FIRST_KEY=file:PATH with %s writes the key to a file that only its owner can read',
  async (kind) => {
    const file = join(temporaryFolder(), 'first-key');
    const service = await startInProcess({ ...(await environmentOf(kind)), FIRST_KEY: `file:${file}` });
    expect([service.firstKey, service.firstKeyFile]).toEqual([undefined, file]);
    const key = readFileSync(file, 'utf8');
    expect(isApiKey(key.trim())).toBe(true);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(await statusWith(service, key.trim())).toBe(200);
  },
);

describe('FIRST_KEY=file:PATH', () => {
  test('replaces the key of an earlier store, and an empty file, by a new file', async () => {
    const file = join(temporaryFolder(), 'first-key');
    writeFileSync(file, '', PRIVATE);
    let last = '';
    for (let count = 0; count < 2; count++) {
      const service = await startInProcess({
        ...(await environmentOf('memory')),
        FIRST_KEY: `file:${file}`,
      });
      const key = readFileSync(file, 'utf8').trim();
      expect(key).not.toBe(last);
      expect(await statusWith(service, key)).toBe(200);
      last = key;
    }
  });

  test('leaves the file unchanged when the store has had a key', async () => {
    const file = join(temporaryFolder(), 'first-key');
    const environment = { ...(await environmentOf('sqlite')), FIRST_KEY: `file:${file}` };
    await (await startInProcess(environment)).stop();
    const key = readFileSync(file, 'utf8');
    const second = await startInProcess(environment);
    expect(second.firstKeyFile).toBeUndefined();
    expect(readFileSync(file, 'utf8')).toBe(key);
    expect(await statusWith(second, key.trim())).toBe(200);
  });

  test('starts no server and creates no key when the file is refused', async () => {
    const folder = temporaryFolder();
    const file = join(folder, 'pets.db-journal');
    const environment = await environmentOf('sqlite', folder);
    await expect(startInProcess({ ...environment, FIRST_KEY: `file:${file}` })).rejects.toMatchObject({
      name: 'ConfigError',
      message: `FIRST_KEY: the file ${file} belongs to the store`,
    });
    expect(readdirSync(folder)).toEqual(['pets.db']);
    expect((await startInProcess(environment)).firstKey).toBeDefined();
  });

  const refused: [string, (file: string) => unknown, string][] = [
    ['other text', (file) => writeFileSync(file, 'precious', PRIVATE), 'exists and does not contain a key'],
    ['a directory', (file) => mkdirSync(file), 'is not a regular file'],
    ['a FIFO', (file) => spawnSync('mknod', [file, 'p']), 'is not a regular file'],
    ['a file that others can read', (file) => writeFileSync(file, '', { mode: 0o644 }), 'exists, and others'],
    ['a file with a second name', linkedFile, 'exists, and others can read it: remove it'],
    ['a symbolic link to a file', (file) => symlinkSync(`${file}-target`, file), 'is not a regular file'],
  ];
  if (process.getuid?.() === 0) refused.push(['a file of another user', fileOfNobody, 'exists, and others']);
  test.each(refused)('refuses %s', async (_, make, reason) => {
    const file = join(temporaryFolder(), 'first-key');
    make(file);
    const before = lstatSync(file, { bigint: true });
    const store = new AnimalStore(openMemoryStorage());
    await expect(createFirstKey(configOf(file), store)).rejects.toMatchObject({
      name: 'ConfigError',
      message: expect.stringContaining(`FIRST_KEY: the file ${file} ${reason}`),
    });
    const after = lstatSync(file, { bigint: true });
    expect([after.ino, after.mtimeNs]).toEqual([before.ino, before.mtimeNs]);
    expect(await store.apiKeys.list()).toEqual([]);
  });

  test('refuses a missing folder', async () => {
    const folder = temporaryFolder();
    const store = new AnimalStore(openMemoryStorage());
    const created = createFirstKey(configOf(join(folder, 'no', 'key')), store);
    await expect(created).rejects.toThrow('cannot be written: ENOENT');
    expect(await store.apiKeys.list()).toEqual([]);
    expect(readdirSync(folder)).toEqual([]);
  });

  describe.each(STORAGES.filter((kind) => kind !== 'memory'))('with %s', (kind) => {
    test.each([
      [2, 'the same file', 5],
      [10, 'the same file', 2],
      [4, 'a file each', 2],
    ])('of %i servers that start at once with %s, one creates the key', async (count, files, rounds) => {
      for (let round = 0; round < rounds; round++) {
        const folder = temporaryFolder();
        const environment = await environmentOf(kind, folder);
        const paths = Array.from({ length: count }, (_, index) =>
          join(folder, files === 'a file each' ? `key-${index}` : 'key'),
        );
        const stores = await Promise.all(paths.map(() => openStore(environment)));
        const created = await Promise.all(
          paths.map((path, index) =>
            createFirstKey(
              loadConfig({ ...environment, FIRST_KEY: `file:${path}` }),
              stores[index] as AnimalStore,
            ),
          ),
        );
        const [winner, ...others] = created.flatMap(({ firstKeyFile }) => firstKeyFile ?? []);
        expect(others).toEqual([]);
        expect(paths.filter((path) => existsSync(path) && path !== winner)).toEqual([]);
        const key = readFileSync(winner as string, 'utf8').trim();
        for (const store of stores) {
          expect(await store.verifyApiKey(key)).toMatchObject({ name: 'first key' });
          expect(await store.apiKeys.list()).toHaveLength(1);
        }
      }
    });
  });
});

function linkedFile(file: string): void {
  writeFileSync(file, '', PRIVATE);
  linkSync(file, `${file}-2`);
}

function fileOfNobody(file: string): void {
  writeFileSync(file, '', PRIVATE);
  chownSync(file, 65_534, 65_534);
}

async function openStore(environment: Environment): Promise<AnimalStore> {
  const store = new AnimalStore(await loadConfig(environment).database.open());
  onTestFinished(() => store.close());
  return store;
}

function configOf(file: string) {
  return loadConfig({ DATABASE_URL: 'memory:', FIRST_KEY: `file:${file}` });
}
