/**
 * Makes projects and tries them as a stranger would, at night: `node scripts/new/try.ts [NAME...]`. Each runs the commands of
 * its README and its checks, some of them after what docs/make-it-yours.md says to delete. Takes half an hour.
 */

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from './project.ts';

const MANUAL = 'docs/make-it-yours.md';

interface Try {
  readonly name: string;
  readonly entity: readonly string[];
  /** Returns the commands that change the project. */
  readonly change: (manual: string) => string;
}

const book = ['--entity', 'book'];
const TRIES: readonly Try[] = [
  { name: 'orchard', entity: ['--entity', 'orchard'], change: () => '' },
  { name: 'people', entity: ['--entity', 'person', '--plural', 'people'], change: () => '' },
  ...deletions(readFileSync(join(ROOT, MANUAL), 'utf8')).map((_, index) => ({
    name: `deletion ${index + 1}`,
    entity: book,
    change: (manual: string) => deletions(manual)[index] ?? 'false',
  })),
];

/** The blocks of the manual that delete something. */
function deletions(manual: string): string[] {
  const blocks = manual.matchAll(/^```sh\n(.*?)^```$/gms);
  return [...blocks].map(([, code = '']) => code).filter((code) => code.includes('npm run without'));
}

const chosen = process.argv.slice(2);
const failed: string[] = [];
const tries = TRIES.filter(({ name }) => chosen.length === 0 || chosen.includes(name));
for (const { name, entity, change } of tries) {
  const folder = mkdtempSync(join(tmpdir(), 'new-project-'));
  const target = join(folder, 'project');
  const run = (cwd: string, script: string) =>
    execFileSync('bash', ['-eo', 'pipefail', '-c', script], { cwd, stdio: 'inherit' });
  try {
    run(ROOT, `npm run new -- ${target} ${entity.join(' ')}`);
    run(target, change(readFileSync(join(target, MANUAL), 'utf8')));
    run(target, 'npm run check && npm test && bash .ci/start');
    console.log(`== ${name}: passed`);
  } catch (error) {
    console.error(`== ${name}: ${(error as Error).message}`);
    failed.push(name);
  }
  rmSync(folder, { recursive: true });
}
console.log(`${tries.length - failed.length} passed, ${failed.length} failed`);
process.exitCode = failed.length > 0 ? 1 : 0;
