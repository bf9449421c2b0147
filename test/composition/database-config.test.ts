/** The database of the configuration, from the environment or from --database-url. */

import { describe, expect, test } from 'vitest';
import { ConfigError, loadConfig, loadDatabase } from '../../src/composition/config.ts';

describe('the database of the configuration', () => {
  test.each([
    ['mysql', "'mysql'"],
    ['./pets.db', "'./pets.db'"],
    ['sqlite:', "'sqlite:'"],
    ['sqlite: ', "'sqlite: '"],
    ['sqlite::memory:', "'sqlite::memory:'"],
    ['memory:x', "'memory:x'"],
    ['mysql://me:hunter2@db.example/pets', "'mysql:…'"],
    ['hunter2@mysql://db.example/pets', 'a value that may hold a password'],
  ])('%s is refused', (value, shown) => {
    const reason = `expected sqlite:PATH or memory:, got ${shown}`;
    expect(() => loadConfig({ DATABASE_URL: value })).toThrow(new ConfigError(`DATABASE_URL: ${reason}`));
    expect(() => loadConfig({}, value)).toThrow(new ConfigError(`--database-url: ${reason}`));
    expect(() => loadDatabase({}, value)).toThrow(new ConfigError(`--database-url: ${reason}`));
  });

  test('--database-url has precedence over the environment', () => {
    const environment = { DATABASE_URL: 'mysql', DATABASE_URL_FILE: '/no/such/file' };
    expect(loadConfig(environment, 'memory:').database).toEqual({ scheme: 'memory', location: '' });
    expect(loadDatabase(environment, 'sqlite:pets.db')).toEqual({ scheme: 'sqlite', location: 'pets.db' });
  });

  test('a command other than serve needs a durable database, and ignores all other settings', () => {
    const database = { scheme: 'sqlite', location: './data/animal-store.db' };
    expect(loadDatabase({ PORT: 'x', API_KEYS: 'x' })).toEqual(database);
    const reason = 'memory: is supported by serve only, because its data is lost when the command ends';
    expect(() => loadDatabase({ DATABASE_URL: 'memory:' })).toThrow(
      new ConfigError(`DATABASE_URL: ${reason}`),
    );
    expect(() => loadDatabase({}, 'memory:')).toThrow(new ConfigError(`--database-url: ${reason}`));
  });
});
