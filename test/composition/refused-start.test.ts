/** Each start that fails names the setting or the file in one line, and prints no stack. */

import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Workspace } from '../e2e/workspace.ts';
import { listen } from '../support/sockets.ts';

/** Runs `serve`, which must fail. Returns the line of the error. */
async function refusal(
  environment: Readonly<Record<string, string>>,
  work = new Workspace(),
  ...args: readonly string[]
): Promise<string> {
  const { status, out, err } = await work.runHere(['serve', ...args], '', { PORT: '0', ...environment });
  expect([status, out]).toEqual([1, '']);
  expect(err).toMatch(/^animal-store: \S.*\n$/);
  return err;
}

test('a port that is in use, and a host that is not available, are named', async () => {
  const { port } = new URL(await listen(createServer()));
  expect(await refusal({ PORT: port })).toBe(
    `animal-store: cannot listen on port ${port} of 127.0.0.1: listen EADDRINUSE: address already in use 127.0.0.1:${port}: select another port or address with PORT and HOST, or --port and --host\n`,
  );
  for (const [HOST, reason] of [
    ['192.0.2.1', 'EADDRNOTAVAIL'],
    ['no-such-host.invalid', '(ENOTFOUND|EAI_AGAIN)'],
  ] as const) {
    const expected = new RegExp(`: cannot listen on port 0 of ${HOST}: .*${reason}.*: select another `);
    expect(await refusal({ HOST, DATABASE_URL: 'memory:' })).toMatch(expected);
  }
});

test('a file that is no store, or is damaged, is named, and the setting of the store', async () => {
  const text = new Workspace();
  writeFileSync(text.store, 'this is no database, it is a text. '.repeat(100));
  const damaged = new Workspace();
  await damaged.addPets(300);
  writeFileSync(damaged.store, readFileSync(damaged.store).fill(0xa5, 8192, 16_384));
  for (const work of [text, damaged])
    expect(await refusal({}, work)).toContain(`: DATABASE_URL: ${work.store}`);
});

test('a folder that cannot be created is named, and the setting of the store', async () => {
  const work = new Workspace();
  writeFileSync(work.path('file'), '');
  const path = join(work.path('file'), 'pets.db');
  const DATABASE_URL = `sqlite:${path}`;
  expect(await refusal({ DATABASE_URL })).toContain(`animal-store: DATABASE_URL: ${path}: `);
  expect(await refusal({}, work, '--database-url', DATABASE_URL)).toContain(`: --database-url: ${path}: `);
});
