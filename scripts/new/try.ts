/**
 * Creates projects, and installs, tests and uses them as a new user would: `node scripts/new/try.ts [NAME...]`. Without names,
 * creates ten projects with random names (`PROPERTY_SEED` sets the seed), one project for each part, one with all parts, and some
 * with lists of attributes. Such a run takes an hour, so run it at night.
 */

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { useServer } from '../../test/new/use-server.ts';
import { WORDS } from '../../test/new/words.ts';
import { attributesOf } from './attributes.ts';
import { PARTS } from './parts.ts';
import { ROOT } from './project.ts';

const COUNT = 10;

/** Two lists with attributes of every kind. Some are required, some are optional, and some have a default or a filter. */
const LISTS = [
  'title:text(1..200), seat:int64(1..900), pages:integer(1..5000)?, shelf:one of(fiction, science)=fiction, lent:boolean=false filter, dueAt:timestamp?',
  'subject:text(0..80)?, size:integer(0..100)=5 filter, kind:one of(a, b)?, sentAt:timestamp filter, seen:boolean, weight:int64?',
];

/**
 * A list without a text attribute, and a list with many filters. Some attributes are named like existing columns and members. The
 * tests of all parts must pass with these lists.
 */
const UNUSUAL_LISTS = [
  'count:integer(0..100), sentAt:timestamp filter, level:one of(a, b)?, colour:one of(red, blue)=red, extra:boolean?, age:integer?, owner:int64?',
  'code:text(0..3) filter, place:text(0..80)? filter, caller:integer? filter, endsAt:timestamp filter, request:boolean=true filter, kind:one of(a, b), colour:text(1..9) filter, q:int64(0..9)? filter, page:integer? filter',
];
const ALL_PARTS = Object.keys(PARTS).join();

interface Try {
  readonly entity: string;
  readonly part?: string;
  readonly list?: string;
}

const chosen = process.argv.slice(2);
const seed = Number(process.env['PROPERTY_SEED'] ?? Date.now());
console.log(`== the words: PROPERTY_SEED=${seed}`);
const tries: readonly Try[] =
  chosen.length > 0
    ? chosen.map((entity) => ({ entity }))
    : [
        ...someOf(WORDS, COUNT, seed).map((entity) => ({ entity })),
        ...[...Object.keys(PARTS), ALL_PARTS].map((part) => ({ entity: 'book', part })),
        ...LISTS.map((list) => ({ entity: 'support ticket', list })),
        ...UNUSUAL_LISTS.map((list) => ({ entity: 'reading', part: ALL_PARTS, list })),
      ];

/** Chooses `count` different words at random, with the seed `start`. */
function someOf(words: readonly string[], count: number, start: number): readonly string[] {
  const left = [...words];
  let random = start >>> 0;
  return Array.from({ length: count }, () => {
    random = (Math.imul(random, 1_664_525) + 1_013_904_223) >>> 0;
    return left.splice(Math.floor((random / 2 ** 32) * left.length), 1)[0] as string;
  });
}

const failed: string[] = [];
for (const { entity, part, list } of tries) {
  const folder = mkdtempSync(join(tmpdir(), 'new-project-'));
  const target = join(folder, 'project');
  const options = [
    ...(part === undefined ? [] : [`--with ${part}`]),
    ...(list === undefined ? [] : [`--attributes '${list}'`]),
  ].join(' ');
  const name = `${entity} ${options}`;
  const run = (cwd: string, script: string) =>
    execFileSync('bash', ['-eo', 'pipefail', '-c', script], { cwd, stdio: 'inherit' });
  try {
    run(ROOT, `npm run new -- ${target} --entity '${entity}' ${options}`);
    run(target, 'npm ci');
    run(target, 'npm run check && npm test');
    await useServer(target, entity, list === undefined ? [] : attributesOf(list));
    console.log(`== ${name}: passed`);
  } catch (error) {
    console.error(`== ${name}: ${(error as Error).message}`);
    failed.push(name);
  }
  rmSync(folder, { recursive: true });
}
console.log(`${tries.length - failed.length} passed, ${failed.length} failed`);
process.exitCode = failed.length > 0 ? 1 : 0;
