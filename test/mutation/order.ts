/**
 * Breaks the order of writes and reads, or a promise about changes of pets, in a copy of the sources for each mutant, and expects a
 * test to find the fault: `npm run test:order`. An argument selects the mutants whose names contain it.
 */

import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { trackedFiles } from '../../scripts/git.ts';
import { MUTANTS, testsOf } from './mutants.ts';

const ROOT = resolve(import.meta.dirname, '../..');

/** The members of Vitest's report that are read. */
interface Report {
  readonly testResults: readonly {
    readonly assertionResults: readonly {
      readonly title: string;
      readonly status: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

/** A race that breaks the order does not happen in each run. */
const TRIES = 3;

const [, , part = ''] = process.argv;
const mutants = MUTANTS.filter(({ name }) => name.includes(part));
const folder = mkdtempSync(join(tmpdir(), 'animal-store-order-'));
const tracked = trackedFiles(ROOT);
for (const name of [...tracked, 'dist'].filter((path) => existsSync(join(ROOT, path))))
  cpSync(join(ROOT, name), join(folder, name), { recursive: true });
symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
let caught = 0;
try {
  for (const mutant of mutants) {
    const { name, file, text, replacement } = mutant;
    const path = join(folder, file);
    const source = readFileSync(path, 'utf8');
    if (!source.includes(text)) throw new Error(`${file}: expected the text ${JSON.stringify(text)}`);
    writeFileSync(
      path,
      source.replace(text, () => replacement),
    );
    let message: string | undefined;
    for (let count = 0; count < TRIES && message === undefined; count += 1)
      message = messageOf(testsOf(mutant));
    writeFileSync(path, source);
    if (message !== undefined) caught += 1;
    console.log(message === undefined ? `NOT CAUGHT: ${name}` : `caught: ${name}\n  ${message}`);
  }
} finally {
  rmSync(folder, { recursive: true });
}
console.log(`${caught} passed, ${mutants.length - caught} failed`);
process.exitCode = caught === mutants.length ? 0 : 1;

/** Runs tests. Returns what the first that fails says: a contradiction, or its name and error. */
function messageOf(run: readonly string[]): string | undefined {
  const report = join(folder, 'report.json');
  rmSync(report, { force: true });
  const { stdout, stderr } = spawnSync(
    'npx',
    ['vitest', 'run', '--retry=0', '--bail=1', '--reporter=json', `--outputFile=${report}`, ...run],
    { cwd: folder, encoding: 'utf8', env: { ...process.env, NO_COLOR: '1' }, timeout: 300_000 },
  );
  if (!existsSync(report)) throw new Error(`the tests did not run: ${`${stdout}${stderr}`.slice(-1000)}`);
  const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as Report;
  const tests = testResults.flatMap(({ assertionResults }) => assertionResults);
  if (!tests.some(({ status }) => status !== 'pending' && status !== 'skipped')) {
    throw new Error(`no test ran: ${`${stdout}${stderr}`.slice(-1000)}`);
  }
  const failed = tests.find(({ status }) => status === 'failed');
  const [text = ''] = failed?.failureMessages ?? [];
  return failed && (/^\+ ["'](.+)["']$/m.exec(text)?.[1] ?? `${failed.title}: ${text.split('\n')[0]}`);
}
