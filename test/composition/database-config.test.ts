/** The database of the configuration, from the environment or from --database-url. */

import { expect, test } from 'vitest';
import { loadConfig, loadDurableDatabase } from '../../src/composition/config.ts';
import { STORE_ENGINES } from '../../src/composition/databases/index.ts';
import { configFault } from '../support/service.ts';

const USAGES = `expected ${STORE_ENGINES.map(({ usage }) => usage).join(' or ')}, got`;
const PATH = 'expected sqlite:PATH, such as sqlite:./pets.db or sqlite:/var/lib/pets.db';
/** Adds each word to the start of a URL. */
const urls = (start: string, words: string, reason: string) =>
  words.split(' ').map((word) => [start + word, reason]);

test.each([
  ...urls('', 'mysql ./pets.db hunter2:x', `${USAGES} a value without such a scheme`),
  ['mysql://me:hunter2@db.example/pets', `${USAGES} 'mysql:…'`],
  [`"mysql://me:hunter2@db.example/pets"`, `${USAGES} '"mysql:…'`],
  ['sqlite:./x.db\nhunter2', `${USAGES} a value with control characters`],
  ['postgres://me:hunter2@db.example/pe\tts', `${USAGES} a value with control characters`],
  ['hunter2@mysql://db.example/pets', USAGES],
  ['memory:x', "expected memory: without a path, got 'memory:x'"],
  ['sqlite: ', `${PATH}, without host, parameters, ~ and variables, got 'sqlite:'`],
  ...urls('sqlite:', '//./x.db ~/x.db $HOME/x.db x.db?mode=ro file:x.db :memory:', PATH),
  ...urls(
    'postgres:',
    'pets //host:port/pets //me:hunter2@host:port/pets',
    'expected postgres://USER:PASSWORD@HOST:PORT/DATABASE: percent-encode the password',
  ),
])('the database %s is refused, and the message shows no password', (value = '', reason) => {
  for (const [load, source] of [
    [() => loadConfig({ DATABASE_URL: value }), 'DATABASE_URL'],
    [() => loadConfig({}, { databaseUrl: value }), '--database-url'],
  ] as const) {
    const message = configFault(load);
    expect(message).toContain(`${source}: ${reason}`);
    expect(message.split('\n')).toHaveLength(1);
    expect(message).not.toContain('hunter2');
  }
});

test('--database-url has precedence, also for commands, which ignore all other settings', () => {
  const environment = { DATABASE_URL: 'mysql', DATABASE_URL_FILE: '/no/such/file', PORT: 'x' };
  const database = { scheme: 'sqlite', location: 'pets.db', source: '--database-url' };
  expect(loadConfig({ ...environment, PORT: '' }, { databaseUrl: 'SQLITE:pets.db' }).database).toMatchObject(
    database,
  );
  expect(loadDurableDatabase(environment, 'sqlite:pets.db')).toMatchObject(database);
});
