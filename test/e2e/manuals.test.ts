/** Runs the blocks `sh` of the manuals, each document in one folder and from top to bottom, and those of the README. */

import { spawnSync } from 'node:child_process';
import { describe, expect, test, vi } from 'vitest';
import { newPet, type Pet } from '../../src/domain/pet.ts';
import { changePet, petChange } from '../../src/domain/pet-change.ts';
import { parsePetMembers, petJson, petsJson } from '../../src/domain/pet-json.ts';
import { blocksOf, read } from '../manuals/manuals.ts';
import { CHANGING_SETTINGS } from '../support/lifecycle.ts';
import { numberedJson, optionsOf, REX, REX_JSON } from '../support/pets.ts';
import {
  canRunPostgres,
  connect as connectToPostgres,
  newDatabaseUrl,
  postgresNote,
} from '../support/postgres/index.ts';
import { BIN, runCommand, temporaryFolder } from '../support/process.ts';
import { clientOf, environmentOf, startInProcess } from '../support/service.ts';
import { connect } from '../support/sqlite.ts';

// A manual starts up to twenty processes, one after the other, on a machine that can be busy.
vi.setConfig({ testTimeout: 300_000 });

const hasCurl = spawnSync('curl', ['--version']).status === 0;

/** Makes the built command the program `animal-store`. */
const INSTALL = `mkdir .bin && PATH="$PWD/.bin:$PATH"
printf '#!/bin/sh\\nexec "$NODE" "$BIN" "$@"\\n' > .bin/animal-store && chmod +x .bin/animal-store`;

/** The commands of a manual that are meant to run, as one script. `ID` stands for the id of the second key. */
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
    const create = `animal-store pets create ${optionsOf(REX).join(' ')}`;
    const output = await run(
      `${serve}\n${create}\n${data}\n${watch}\nanimal-store export --database-url sqlite:copy.db`,
    );
    expect(output).toMatch(/^pets_\w{49}\n/);
    expect(output).toContain('pets-backup.db');
    expect(output.endsWith(`,${REX_JSON.slice(1)}\n`)).toBe(true);
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
      const script = scriptOf('api.md');
      const [body = '', change = ''] = [...script.matchAll(/-d '(\{.*?\})'/g)].map(([, json]) => json);
      for (let count = 0; count < 2; count += 1)
        expect((await fetch(`${url}/pets`, { method: 'POST', headers, body })).status).toBe(201);
      const output = await run(script, { ANIMAL_STORE_KEY, ANIMAL_STORE_URL: url });
      const pet = (id: bigint): Pet => ({ id, ...newPet(parsePetMembers(body)) });
      const changed = changePet(pet(1n), petChange(parsePetMembers(change)));
      expect(output).toBe(
        `${petsJson([pet(1n), pet(2n)])}\n${petsJson([pet(1n)])}${petJson(pet(3n))}${petJson(changed)}`,
      );
    },
  );

  test.skipIf(!canRunPostgres)(`docs/postgresql.md move a store to PostgreSQL${postgresNote}`, async () => {
    const script = scriptOf('postgresql.md').replace(/TARGET=\S+/, `TARGET='${await newDatabaseUrl()}'`);
    const pets = `${numberedJson(1)}\n${numberedJson(2)}\n`;
    const output = await run(`printf '${pets}' | animal-store import --create-store -\n${script}`);
    const [one = '', other = ''] = output.match(/^[0-9a-f]{64}/gm) ?? [];
    expect(one).toMatch(/^[0-9a-f]{64}$/);
    expect(other).toBe(one);
    expect(output).toMatch(/pets_\w{49}\n$/);
  });
});

const DEVELOP = 'scripts/new/files/docs/develop.md.txt';
describe.each(['CONTRIBUTING.md', DEVELOP])('the migrations of %s', (manual) => {
  const [sqlite = '', postgres = ''] = blocksOf(manual).flatMap(({ language, code }) =>
    language === 'sql' ? [code] : [],
  );
  // A pet that breaks a rule of the table, as after a rule has changed.
  const TABLE = 'CREATE TABLE pets (id bigint PRIMARY KEY, name text';
  const insert = (year: number) => `INSERT INTO pets VALUES (${year}, 'Rex', ${year})`;

  test('add a column with its rule to SQLite, even if a stored pet breaks another rule', () => {
    const db = connect(':memory:');
    db.exec(`${TABLE} CHECK (name <> '')); PRAGMA ignore_check_constraints = ON;
      INSERT INTO pets VALUES (1, ''); PRAGMA ignore_check_constraints = OFF`);
    db.exec(`BEGIN; ${sqlite} COMMIT; ${insert(1900)}`);
    expect(() => db.exec(insert(1899))).toThrow('CHECK constraint failed');
  });

  test.skipIf(!canRunPostgres)(`add a column with its rule to PostgreSQL${postgresNote}`, async () => {
    const client = await connectToPostgres(await newDatabaseUrl());
    await client.query(`${TABLE}); INSERT INTO pets VALUES (1, '')`);
    await client.query(`BEGIN; ${postgres} COMMIT; ${insert(1900)}`);
    await expect(client.query(insert(1899))).rejects.toThrow('violates check constraint');
  });
});

/** Shells that read commands as on a terminal. An interactive zsh has no comments, and `?` is a pattern. */
const SHELLS: Readonly<Record<string, readonly string[]>> = {
  sh: ['-e'],
  bash: ['--norc', '-e'],
  zsh: ['-f', '-i', '+m', '-s', '-e'],
};

describe('the README', () => {
  const blocks = blocksOf('README.md').flatMap(({ language, code }) =>
    language === 'sh' ? [code.trim()] : [],
  );
  const blockOf = (command: string) => blocks.find((block) => block.startsWith(command)) ?? '';

  test('has only commands that are tested here, and npm commands that CI runs too', () => {
    expect(blocks).toHaveLength(4);
    const ofNpm = blocks
      .flatMap((block) => block.split('\n'))
      .filter((line) => !/^(export ANIMAL_STORE_KEY=|curl |(API_KEY=\S+ )?npx animal-store )/.test(line));
    expect(ofNpm).toEqual(expect.arrayContaining(['npm ci && npm start', 'npm ci && npm test']));
    const ci = read('.ci/run') + read('.ci/start');
    for (const command of ofNpm.flatMap((line) => line.split(' && '))) {
      expect(command).toMatch(/^npm /);
      expect(ci).toContain(command);
    }
  });

  for (const [shell, args] of Object.entries(SHELLS)) {
    const canRun = hasCurl && spawnSync(shell, ['-c', 'true']).status === 0;
    test.skipIf(!canRun)(
      `creates and lists a pet with curl in ${shell} (skipped without the shell or curl)`,
      async () => {
        const { url, firstKey } = await startInProcess(await environmentOf('memory'));
        const input = blockOf('export ANIMAL_STORE_KEY=')
          .replace('pets_…', firstKey?.key ?? '')
          .replaceAll('http://127.0.0.1:3000', new URL(url).origin);
        const { exit, out } = runCommand(shell, args, { input: `${input}\n` });
        const [, json = ''] = /-d '(\{.*?\})'/.exec(input) ?? [];
        const pet = petJson({ id: 1n, ...newPet(parsePetMembers(json)) });
        expect(await exit, out.stderr).toEqual({ code: 0, signal: null });
        expect(out.stdout).toContain(`${pet}\n[${pet}]\n`);
      },
    );
  }

  test('lists the pets of the server with the command, and creates a key', async () => {
    const service = await startInProcess(await environmentOf('memory'));
    const ANIMAL_STORE_KEY = service.firstKey?.key ?? '';
    await clientOf(service).post(REX_JSON);
    // In the README, `npm start` has created the store. The tests of the package run npx itself.
    const started = 'npx() { "$@"; }\nnpx animal-store keys create --create-store --name first > first-key';
    const block = blockOf('API_KEY=').replace('http://127.0.0.1:3000/v1', service.url);
    expect(await run(`${started}\n${block}`, { ANIMAL_STORE_KEY })).toMatch(
      /^ID .*\n1 .*\npets_[0-9A-Za-z]{49}\n$/,
    );
  });
});
