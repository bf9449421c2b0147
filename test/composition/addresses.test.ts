/** The addresses of servers, and of databases elsewhere: no message shows a part that may be a password. */

import dns from 'node:dns';
import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { loadConfig, loadDurableDatabase } from '../../src/composition/config.ts';
import { diagnose } from '../../src/composition/doctor.ts';
import { createAnimalStore } from '../../src/library/index.ts';
import { configFault, startInProcess } from '../support/service.ts';

test('no part of a malformed URL is shown by the start, by doctor and by the library, or looked up', async () => {
  using lookup = vi.spyOn(dns, 'lookup');
  const word = fc.stringMatching(/^[A-Z][a-z]{5}[0-9]{3}$/);
  const mark = fc.constantFrom(' ', '\n', ...'/ ? # /@ ?x=@ #@ % %zz %ff \uff20/ :/ /:'.split(' '));
  const scheme = fc.constantFrom('postgres', 'postgresql', 'https');
  const end = fc.constantFrom('', '/pets', ':5432/pets', '/pets?sslmode=require', '?max=5', '/pets#x');
  await fc.assert(
    fc.asyncProperty(scheme, word, mark, word, end, async (name, first, between, second, rest) => {
      const url = `${name}://me:${first}${between}${second}@db.invalid${rest}`;
      const report = await diagnose({ DATABASE_URL: url });
      const texts = [
        configFault(() => loadConfig({ DATABASE_URL: url })),
        JSON.stringify(report),
        String(await createAnimalStore({ database: url, apiKey: 'x' }).catch(String)),
      ];
      for (const text of texts) {
        expect(text).toMatch(/expected/);
        for (const part of [first, second, 'db.invalid'])
          expect(text.toLowerCase()).not.toContain(part.toLowerCase());
      }
    }),
    { numRuns: 120 },
  );
  expect(lookup).not.toHaveBeenCalled();
});

test.each(['https://me:hunter2@host/v1', 'https://host/v1?x=1', 'http://'])(
  'doctor and other commands refuse the address %s of a server, and say what is expected',
  async (url) => {
    const { problems } = await diagnose({ DATABASE_URL: url, API_KEY: 'x' });
    const [scheme] = url.split(':');
    const reason = `DATABASE_URL: expected the base address of a server, such as ${scheme}://HOST/v1, without user name`;
    expect(problems).toEqual([{ severity: 'error', message: expect.stringContaining(reason) }]);
    expect(configFault(() => loadDurableDatabase({ DATABASE_URL: url }))).toContain(reason);
  },
);

test('doctor with the address of a server does not examine the settings of a server here', async () => {
  const { url, firstKey } = await startInProcess({ DATABASE_URL: 'memory:', PORT: '0', LOG_LEVEL: 'silent' });
  const report = await diagnose({ DATABASE_URL: url, API_KEY: firstKey?.key, PORT: 'x' });
  expect(report).toMatchObject({ settings: [], problems: [], database: { location: url, exists: true } });
});

test('a server at an address decides itself how long idempotency keys are valid', async () => {
  await expect(
    createAnimalStore({ database: 'https://pets.example.org/v1', apiKey: 'k', idempotencyDays: 7 }),
  ).rejects.toThrow('idempotencyDays: the server at an address decides it, with IDEMPOTENCY_DAYS');
});
