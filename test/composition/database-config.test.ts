/** The database of the configuration, from the environment or from --database-url. */

import { describe, expect, test } from 'vitest';
import { ConfigError } from '../../src/composition/config/settings.ts';
import { loadConfig, loadDurableDatabase } from '../../src/composition/config.ts';

describe('the database of the configuration', () => {
  test.each([
    ['mysql', "'mysql'"],
    ['./pets.db', "'./pets.db'"],
    ['sqlite:', "'sqlite:'"],
    ['sqlite: ', "'sqlite: '"],
    ['sqlite::memory:', "'sqlite::memory:'"],
    ['memory:x', "'memory:x'"],
    ['postgres:pets', "'postgres:pets'"],
    ['postgres://', "'postgres://'"],
    ['postgres://host:port/pets', "'postgres://host:port/pets'"],
    ['postgres://me:hunter2@host:port/pets', 'a value that may hold a password'],
    ['mysql://me:hunter2@db.example/pets', "'mysql:…'"],
    ['hunter2@mysql://db.example/pets', 'a value that may hold a password'],
  ])('%s is refused', (value, shown) => {
    const stores = 'expected sqlite:PATH or memory: or postgres://HOST/DATABASE';
    const reason = `${stores}, got ${shown}`;
    expect(() => loadConfig({ DATABASE_URL: value })).toThrow(new ConfigError(`DATABASE_URL: ${reason}`));
    expect(() => loadConfig({}, { databaseUrl: value })).toThrow(
      new ConfigError(`--database-url: ${reason}`),
    );
    expect(() => loadDurableDatabase({}, value)).toThrow(
      new ConfigError(`--database-url: ${stores} or https://HOST/v1, got ${shown}`),
    );
  });

  test('--database-url has precedence over the environment', () => {
    const environment = { DATABASE_URL: 'mysql', DATABASE_URL_FILE: '/no/such/file' };
    expect(loadConfig(environment, { databaseUrl: 'memory:' }).database).toEqual({
      scheme: 'memory',
      location: '',
      source: '--database-url',
    });
    expect(loadDurableDatabase(environment, 'sqlite:pets.db')).toEqual({
      scheme: 'sqlite',
      location: 'pets.db',
      source: '--database-url',
    });
  });

  test('a command other than serve needs a durable database, and ignores all other settings', () => {
    const database = { scheme: 'sqlite', location: './data/animal-store.db', source: 'the default store' };
    expect(loadDurableDatabase({ PORT: 'x', API_KEYS: 'x' })).toEqual(database);
    const reason =
      'memory: is supported by serve and doctor only, because its data is lost when the command ends';
    expect(() => loadDurableDatabase({ DATABASE_URL: 'memory:' })).toThrow(
      new ConfigError(`DATABASE_URL: ${reason}`),
    );
    expect(() => loadDurableDatabase({}, 'memory:')).toThrow(new ConfigError(`--database-url: ${reason}`));
  });
});
