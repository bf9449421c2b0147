/**
 * Makes projects and tries them as a stranger would, at night: `node scripts/new/try.ts [NAME...]`. Without names, ten of the
 * list are chosen (`PROPERTY_SEED` chooses others), and each part is added once. Takes an hour.
 */

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { useServer } from '../../test/new/use-server.ts';
import { WORDS } from '../../test/new/words.ts';
import { PARTS } from './parts.ts';
import { ROOT } from './project.ts';

const COUNT = 10;

interface Try {
  readonly entity: string;
  readonly part?: string;
}

const chosen = process.argv.slice(2);
const seed = Number(process.env['PROPERTY_SEED'] ?? Date.now());
console.log(`== the words: PROPERTY_SEED=${seed}`);
const tries: readonly Try[] =
  chosen.length > 0
    ? chosen.map((entity) => ({ entity }))
    : [
        ...someOf(WORDS, COUNT, seed).map((entity) => ({ entity })),
        ...[...Object.keys(PARTS), Object.keys(PARTS).join()].map((part) => ({ entity: 'book', part })),
      ];

/** Chooses different words: the steps of the generator reach each place of the list. */
function someOf(words: readonly string[], count: number, start: number): readonly string[] {
  const left = [...words];
  let random = start >>> 0;
  return Array.from({ length: count }, () => {
    random = (Math.imul(random, 1_664_525) + 1_013_904_223) >>> 0;
    return left.splice(Math.floor((random / 2 ** 32) * left.length), 1)[0] as string;
  });
}

const failed: string[] = [];
for (const { entity, part } of tries) {
  const folder = mkdtempSync(join(tmpdir(), 'new-project-'));
  const target = join(folder, 'project');
  const name = part === undefined ? entity : `${entity} with ${part}`;
  const run = (cwd: string, script: string) =>
    execFileSync('bash', ['-eo', 'pipefail', '-c', script], { cwd, stdio: 'inherit' });
  try {
    run(ROOT, `npm run new -- ${target} --entity '${entity}'${part === undefined ? '' : ` --with ${part}`}`);
    run(target, 'npm ci');
    run(target, 'npm run check && npm test');
    await useServer(target, entity);
    console.log(`== ${name}: passed`);
  } catch (error) {
    console.error(`== ${name}: ${(error as Error).message}`);
    failed.push(name);
  }
  rmSync(folder, { recursive: true });
}
console.log(`${tries.length - failed.length} passed, ${failed.length} failed`);
process.exitCode = failed.length > 0 ? 1 : 0;
