/** Runs the blocks `sh` of the manuals, each document in one folder and from top to bottom. */

import { spawnSync } from 'node:child_process';
import { describe, expect, test, vi } from 'vitest';
import { blocksOf } from '../manuals/manuals.ts';
import { CHANGING_SETTINGS } from '../support/lifecycle.ts';
import { REQUIRED_OPTIONS, wholeJson, withRequired } from '../support/pets.ts';
import { canRunPostgres, newDatabaseUrl, postgresNote } from '../support/postgres/index.ts';
import { BIN, runCommand, temporaryFolder } from '../support/process.ts';
import { environmentOf, startInProcess } from '../support/service.ts';

// A manual starts up to twenty processes, one after the other, on a machine that may stand still.
vi.setConfig({ testTimeout: 300_000 });

const hasCurl = spawnSync('curl', ['--version']).status === 0;

/** Makes the built command the program `animal-store`. */
const INSTALL = `mkdir .bin && PATH="$PWD/.bin:$PATH"
printf '#!/bin/sh\\nexec "$NODE" "$BIN" "$@"\\n' > .bin/animal-store && chmod +x .bin/animal-store`;

/** The commands of a manual that are meant to run, as one script. `ID` is that of the second key. */
function scriptOf(manual: string): string {
  const blocks = blocksOf(`docs/${manual}`).filter(
    ({ language, note }) => language === 'sh' && !note?.startsWith('not run: '),
  );
  expect(blocks.length).toBeGreaterThan(0);
  return blocks.map(({ code }) => code.replaceAll(/\bID\b/g, '2')).join('');
}

/** Runs a script in a new folder, where `animal-store` is the built command. Resolves with its standard output. */
async function run(script: string, variables: Readonly<Record<string, string>> = {}): Promise<string> {
  const env = { NODE: process.execPath, BIN, ...variables };
  const { exit, out } = runCommand('sh', ['-ec', `${INSTALL}\n${script}`], { cwd: temporaryFolder(), env });
  expect(await exit, out.stderr).toEqual({ code: 0, signal: null });
  return out.stdout;
}

describe('the commands of', () => {
  test('docs/serve.md, docs/data.md and docs/watch.md work one after another', async () => {
    const [serve = '', data = '', watch = ''] = ['serve.md', 'data.md', 'watch.md'].map(scriptOf);
    const create = `animal-store pets create --name Rex --category-id 7 --status sold ${REQUIRED_OPTIONS.join(' ')}`;
    const output = await run(
      `${serve}\n${create}\n${data}\n${watch}\nanimal-store export --database-url sqlite:copy.db`,
    );
    expect(output).toMatch(/^pets_\w{49}\n/);
    expect(output).toContain('pets-backup.db');
    expect(output).toMatch(/"name":"Rex","categoryId":7,"status":"sold".*}\n$/);
  });

  test.skipIf(!hasCurl)(
    'docs/api.md list all pets, find one, create one and change one (skipped without curl)',
    async () => {
      const { url, firstKey } = await startInProcess({
        ...(await environmentOf('memory')),
        ...CHANGING_SETTINGS,
      });
      const ANIMAL_STORE_KEY = firstKey?.key ?? '';
      const headers = { Authorization: `Bearer ${ANIMAL_STORE_KEY}`, 'Content-Type': 'application/json' };
      for (const name of ['Rex', 'Bella']) {
        const body = JSON.stringify(withRequired({ name, categoryId: 7 }));
        expect((await fetch(`${url}/pets`, { method: 'POST', headers, body })).status).toBe(201);
      }
      const output = await run(scriptOf('api.md'), { ANIMAL_STORE_KEY, ANIMAL_STORE_URL: url });
      const [rex, bella] = [1, 2].map((id) => ({
        id,
        name: id === 1 ? 'Rex' : 'Bella',
        categoryId: 7,
        status: 'available',
      }));
      const parts = [[rex, bella], [rex], { ...rex, id: 3 }, { ...rex, status: 'sold' }].map((part) =>
        wholeJson(JSON.stringify(part)),
      );
      expect(output).toBe(parts.join('').replace('][', ']\n['));
    },
  );

  test.skipIf(!canRunPostgres)(`docs/postgresql.md move a store to PostgreSQL${postgresNote}`, async () => {
    const target = await newDatabaseUrl();
    const script = scriptOf('postgresql.md').replace(/TARGET=\S+/, `TARGET='${target}'`);
    const pets = wholeJson('{"name":"Rex","categoryId":7}\n{"name":"Bella","categoryId":9007199254740993}\n');
    const output = await run(`printf '${pets}' | animal-store import --create-store -\n${script}`);
    const [one = '', other = ''] = output.match(/^[0-9a-f]{64}/gm) ?? [];
    expect(one).toMatch(/^[0-9a-f]{64}$/);
    expect(other).toBe(one);
    expect(output).toMatch(/pets_\w{49}\n$/);
  });
});
