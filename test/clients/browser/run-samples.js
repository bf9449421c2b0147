/** Runs the samples that the page shows, in each language, against the server. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { wholeJson } from '../../support/pets.ts';
import { LARGE } from './checks.js';
import { operation, typeKey, visit } from './visit.js';

const execute = promisify(execFile);

/** The file name of a sample, and the command that runs it. */
const RUNNERS = {
  curl: ['sample.sh', 'sh'],
  JavaScript: ['sample.mjs', process.execPath],
  fetch: ['sample.mjs', process.execPath],
  Python: ['sample.py', 'python3'],
  Go: ['sample.go', 'go', 'run'],
};

/** Go is large, so it is optional. All other languages must be installed. */
const OPTIONAL = ['Go'];

/** Each sample creates a pet or lists pets, with the key in the environment and with the key in the sample. */
export function runSamples({ context, server }) {
  return visit(context, server.origin, {}, async (page) => {
    await typeKey(page, server.key);
    const create = operation(page, 'create-pet');
    const list = operation(page, 'list-pets');
    await list.field('status').selectOption('pending');
    for (const language of Object.keys(RUNNERS)) {
      if (!(await isInstalled(language))) {
        assert.ok(OPTIONAL.includes(language), `${language} is not installed`);
        console.log(`        ${language} IS MISSING, so its samples were not run`);
        continue;
      }
      await create
        .field('body')
        .fill(
          wholeJson(
            `{\n  "name": "it's ${language}, \u202e\\"Минька\\" 🐈",\n  "categoryId": ${LARGE},\n  "status": "pending"\n}`,
          ),
        );
      await create.tab(language).click();
      for (const isShown of [false, true]) {
        if (isShown) await create.form.getByRole('button', { name: 'Show key' }).click();
        const environment = isShown ? {} : { ANIMAL_STORE_KEY: server.key };
        const sample = await create.sample.textContent();
        assert.match(sample, /\\u202e/, 'a character that reorders the text is escaped');
        const created = await run(language, sample, environment);
        assert.ok(created.includes(LARGE), `${language} created: ${created}`);
        const listed = await run(language, await list.sample.textContent(), environment);
        assert.ok(listed.includes(LARGE) && listed.includes(language), `${language} listed: ${listed}`);
        if (isShown) await create.form.getByRole('button', { name: 'Hide key' }).click();
      }
    }
  });
}

async function isInstalled(language) {
  const [, command] = RUNNERS[language];
  try {
    await execute(command, [language === 'Go' ? 'version' : '--version']);
    return true;
  } catch (error) {
    // The shell of Debian has no option --version.
    return error.code !== 'ENOENT';
  }
}

async function run(language, code, environment) {
  const [file, command, ...args] = RUNNERS[language];
  const folder = mkdtempSync(join(tmpdir(), 'animal-store-sample-'));
  try {
    writeFileSync(join(folder, file), code);
    // `npm init` writes this type.
    writeFileSync(join(folder, 'package.json'), '{"type":"commonjs"}');
    const [, name, module] = /^\/\/ curl -o (\S+) (\S+)$/m.exec(code) ?? [];
    if (module !== undefined) writeFileSync(join(folder, name), await (await fetch(module)).text());
    const { ANIMAL_STORE_KEY, ANIMAL_STORE_URL, ...inherited } = process.env;
    const { stdout } = await execute(command, [...args, join(folder, file)], {
      cwd: folder,
      env: { GOCACHE: join(tmpdir(), 'animal-store-go-cache'), ...inherited, ...environment },
    });
    return stdout;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
