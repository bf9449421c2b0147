/** Runs the command that makes a project. */

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';
import { git } from '../../scripts/git.ts';
import { COUNTING, NAME_RULE, VALUE_RULE } from '../../scripts/new/attributes.ts';
import { PARTS } from '../../scripts/new/parts.ts';
import { ROOT } from '../../scripts/new/project.ts';
import { IS_WHOLE } from '../support/extent.ts';

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'new-command-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** `attributes.test.ts`, `names.test.ts` and `project.test.ts` have the other reasons. */
test('what is refused ends the command with status 2 and one line, and nothing is written', async () => {
  const used = mkdtempSync(join(folder, 'used-'));
  writeFileSync(join(used, 'file'), 'mine');
  const free = join(folder, 'free');
  const inside = join(ROOT, 'parcels');
  const [link, toRoot] = [join(folder, 'link'), join(folder, 'root')];
  symlinkSync(mkdtempSync(join(folder, 'empty-')), link);
  symlinkSync(ROOT, toRoot);
  for (const [args, message] of [
    [['--entity', 'parcel'], 'expected a folder and --entity: npm run new -- FOLDER --entity NAME'],
    [
      [free, '--entity', 'parcel', '--with', 'page', 'client', 'fetch'],
      `new: expected one folder, got '${free}' and 'client' and 'fetch': quote a name of several words, and write several parts as --with page,client`,
    ],
    [
      [free, '--entity', 'parcel', '--with', 'book'],
      '--with book: expected postgresql, page, client, completion',
    ],
    [[free, '--entity', 'parcel', '--force'], "Unknown option '--force'"],
    [[used, '--entity', 'parcel'], `${used}: the folder is not empty, and nothing is overwritten`],
    [[inside, '--entity', 'parcel'], `${inside}: expected a folder outside this project`],
    [[`${toRoot}/a/parcels`, '--entity', 'parcel'], `${toRoot}/a/parcels: expected a folder outside`],
    [[link, '--entity', 'parcel'], `${link}: expected a folder, got a file or a link`],
    [[free, '--entity', 'parcel', '--attributes', 'parcelId:int64 filter'], "--attributes 'parcelId': "],
  ] as const) {
    const failure = await run(process.execPath, ['scripts/new.ts', ...args], { cwd: ROOT }).catch(
      (error) => error,
    );
    expect([failure.code, failure.stdout]).toEqual([2, '']);
    expect(failure.stderr).toMatch(/^(?:new: .*\n)+$/);
    expect(failure.stderr).toContain(message);
  }
  expect([existsSync(free), existsSync(inside), readdirSync(used)]).toEqual([false, false, ['file']]);
});

test('--help names the options, the kinds of attributes and the parts', async () => {
  const { stdout, stderr } = await run(process.execPath, ['scripts/new.ts', '--help'], { cwd: ROOT });
  expect(stderr).toBe('');
  expect(stdout).toMatch(/ one of\(A, B\), .*, at most 20\. /);
  for (const text of ['--plural', NAME_RULE, VALUE_RULE, COUNTING, ...Object.keys(PARTS)])
    expect(stdout).toContain(text);
});

const CONVERSATIONS = 'customer-support-conversations';

/** Runs the command in an environment of its own, with a long name. Returns what it prints, or its error. */
function make(made: string, env: NodeJS.ProcessEnv) {
  const options = { cwd: ROOT, env: { ...process.env, ...env } };
  const names = ['--entity', 'customer support conversation', '--name', CONVERSATIONS];
  const args = [made, ...names, '--attributes', 'note:text(0..9)=', '--with', 'fetch'];
  return run(process.execPath, ['scripts/new.ts', ...args], options);
}

/** Runs the command, and acts when it writes its files. */
async function makeAnd(made: string, act: (child: ChildProcess) => void) {
  const child = spawn(process.execPath, ['scripts/new.ts', made, '--entity', 'parcel'], { cwd: ROOT });
  const [ended, stderr] = [once(child, 'close'), text(child.stderr)];
  for await (const line of child.stdout.setEncoding('utf8')) if (line.includes('Writing')) act(child);
  return { ended: await ended, stderr: await stderr };
}

// Reading and formatting all files takes a minute on a busy machine.
describe('the command', { timeout: 300_000 }, () => {
  test('makes one commit of formatted code, whatever settings and variables of Git the user has', async () => {
    const home = mkdtempSync(join(folder, 'home-'));
    const made = join(home, "deep/our 'new' parcels");
    const other = join(home, 'other.git');
    git(home, 'init', '--quiet', '--bare', other);
    writeFileSync(join(home, '.gitconfig'), '[commit]\n gpgSign = true\n[user]\n signingKey = none\n');
    const { stdout } = await make(made, { HOME: home, GIT_DIR: other });
    expect(stdout).toMatch(
      /^One record is called customer support conversation, several are called customer support conversations: --plural changes it\.$/m,
    );
    expect(stdout).toMatch(/^Parts that others need are added: library\.$/m);
    expect(stdout).toMatch(/^Done: cd '\S+\/our '\\''new'\\'' parcels' && npm ci && npm start$/m);
    expect(git(made, 'log', '--format=%s')).toBe(`feat: ${CONVERSATIONS}, made from animal-store\n`);
    expect(git(made, 'status', '--porcelain')).toBe('');
    expect(readdirSync(join(other, 'refs/heads'))).toEqual([]);
    expect(existsSync(join(made, 'node_modules'))).toBe(false);
    expect(git(made, 'show', 'HEAD:docs/api.md')).toMatch(/^\| `note` \| .* \| empty \| The note\. \|$/m);
    await run(join(ROOT, 'node_modules/.bin/biome'), ['ci', '.'], { cwd: made });
  });

  const inside = mkdtempSync(join(folder, 'repository-'));
  const NO_COMMIT = [
    ['Nothing is committed: Git is not installed', join(folder, 'without'), { PATH: '/nowhere' }],
    ['The folder is in a repository of Git: nothing is committed.', join(inside, 'parcels'), {}],
  ] as const;
  test.each(IS_WHOLE ? NO_COMMIT : NO_COMMIT.slice(0, 1))(
    'makes no commit: %s',
    async (message, made, env) => {
      git(inside, 'init', '--quiet');
      expect((await make(made, env)).stdout).toContain(message);
      expect(existsSync(join(made, 'package.json'))).toBe(true);
      expect(existsSync(join(made, '.git'))).toBe(false);
    },
  );

  test('a signal leaves nothing', async () => {
    const home = mkdtempSync(join(folder, 'stopped-'));
    const { ended } = await makeAnd(join(home, 'a/parcels'), (child) => child.kill('SIGTERM'));
    expect(ended).toEqual([null, 'SIGTERM']);
    expect(readdirSync(home)).toEqual([]);
  });

  test('files that others write in the meantime stay', async () => {
    const made = join(mkdtempSync(join(folder, 'raced-')), 'a/parcels');
    const { ended, stderr } = await makeAnd(made, () => {
      mkdirSync(made, { recursive: true });
      writeFileSync(join(made, 'file'), 'mine');
    });
    expect(stderr).toBe(`new: ${made}: the folder is not empty, and nothing is overwritten\n`);
    expect(ended).toEqual([1, null]);
    expect([readdirSync(join(made, '..')), readdirSync(made)]).toEqual([['parcels'], ['file']]);
  });
});
