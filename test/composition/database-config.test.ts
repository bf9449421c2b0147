/** The database of the configuration, from the environment or from --database-url. */

import dns from 'node:dns';
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { ConfigError } from '../../src/composition/config/settings.ts';
import { loadConfig, loadDurableDatabase } from '../../src/composition/config.ts';
import { STORE_ENGINES } from '../../src/composition/databases/index.ts';
import { diagnose } from '../../src/composition/doctor.ts';
import { createAnimalStore } from '../../src/library/index.ts';

function messageOf(load: () => unknown): string {
  try {
    load();
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as Error).message;
  }
  throw new Error('the URL was accepted');
}

describe('the database of the configuration', () => {
  const USAGES = `expected ${STORE_ENGINES.map(({ usage }) => usage).join(' or ')}, got`;
  const URL_FORM = 'expected postgres://USER:PASSWORD@HOST:PORT/DATABASE: percent-encode the password';
  const PATH = 'expected sqlite:PATH, such as sqlite:./pets.db or sqlite:/var/lib/pets.db';
  /** Adds each word to the start of a URL. */
  const urls = (start: string, words: string, reason: string) =>
    words.split(' ').map((word) => [start + word, reason]);

  test.each([
    ...urls('', 'mysql ./pets.db hunter2:x', `${USAGES} a value without such a scheme`),
    ['mysql://me:hunter2@db.example/pets', `${USAGES} 'mysql:…'`],
    ['hunter2@mysql://db.example/pets', USAGES],
    ['memory:x', "expected memory: without a path, got 'memory:x'"],
    ['sqlite: ', `${PATH}, without host, parameters, ~ and variables, got 'sqlite:'`],
    ...urls('sqlite:', '//./x.db ~/x.db $HOME/x.db x.db?mode=ro file:x.db :memory:', PATH),
    ...urls('postgres:', 'pets //host:port/pets //me:hunter2@host:port/pets', URL_FORM),
  ])('%s is refused, and the message shows no password', (value = '', reason) => {
    for (const [load, source] of [
      [() => loadConfig({ DATABASE_URL: value }), 'DATABASE_URL'],
      [() => loadConfig({}, { databaseUrl: value }), '--database-url'],
    ] as const) {
      const message = messageOf(load);
      expect(message).toContain(`${source}: ${reason}`);
      expect(message.split('\n')).toHaveLength(1);
      expect(message).not.toContain('hunter2');
    }
  });

  test('no part of a malformed URL is shown by the start, by doctor and by the library, or looked up', async () => {
    const lookup = vi.spyOn(dns, 'lookup');
    const word = fc.stringMatching(/^[A-Z][a-z]{5}[0-9]{3}$/);
    const mark = fc.constantFrom(' ', '\n', ...'/ ? # /@ ?x=@ #@ % %zz %ff \uff20/ :/ /:'.split(' '));
    const scheme = fc.constantFrom('postgres', 'postgresql', 'https');
    const end = fc.constantFrom('', '/pets', ':5432/pets', '/pets?sslmode=require', '?max=5', '/pets#x');
    await fc.assert(
      fc.asyncProperty(scheme, word, mark, word, end, async (name, first, between, second, rest) => {
        const url = `${name}://me:${first}${between}${second}@db.invalid${rest}`;
        const report = await diagnose({ DATABASE_URL: url });
        const library = await createAnimalStore({ database: url, apiKey: 'x' }).catch(String);
        const texts = [
          messageOf(() => loadConfig({ DATABASE_URL: url })),
          JSON.stringify(report),
          String(library),
        ];
        for (const text of texts) {
          expect(text).toMatch(/expected/);
          for (const part of [first, second, 'db.invalid'])
            expect(text.toLowerCase()).not.toContain(part.toLowerCase());
        }
        if (name !== 'https') expect(texts[2]).toContain('percent-encode the password');
      }),
      { numRuns: 120 },
    );
    expect(lookup).not.toHaveBeenCalled();
    lookup.mockRestore();
  });

  test.each(['https://me:hunter2@host/v1', 'https://host/v1?x=1', 'http://'])(
    'doctor and other commands refuse the address %s of a server, and say what is expected',
    async (url) => {
      const { problems } = await diagnose({ DATABASE_URL: url, API_KEY: 'x' });
      const [scheme] = url.split(':');
      const reason = `DATABASE_URL: expected the base address of a server, such as ${scheme}://HOST/v1, without user name`;
      expect(problems).toEqual([{ severity: 'error', message: expect.stringContaining(reason) }]);
      expect(messageOf(() => loadDurableDatabase({ DATABASE_URL: url }))).toContain(reason);
    },
  );

  test('--database-url has precedence, also for commands, which ignore all other settings', () => {
    const environment = { DATABASE_URL: 'mysql', DATABASE_URL_FILE: '/no/such/file', PORT: 'x' };
    const database = { scheme: 'sqlite', location: 'pets.db', source: '--database-url' };
    expect(
      loadConfig({ ...environment, PORT: '' }, { databaseUrl: 'sqlite:pets.db' }).database,
    ).toMatchObject(database);
    expect(loadDurableDatabase(environment, 'sqlite:pets.db')).toMatchObject(database);
  });
});
