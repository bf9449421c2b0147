/** The units of systemd in `deploy`: what systemd says about them, and what their commands do. */

import { execFileSync, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { newPetJson } from '../../src/domain/pet-json.ts';
import { endOf, Workspace } from '../e2e/workspace.ts';
import { Client } from '../support/client.ts';
import { freePort } from '../support/free-port.ts';
import { MAX, REX_JSON } from '../support/pets.ts';
import {
  OPERATOR_KEY,
  type RunningProcess,
  runCommand,
  stopService,
  temporaryFolder,
} from '../support/process.ts';
import { commandOf, DEPLOY, environmentOf, settings, unitText } from './unit.ts';

const SERVICES = ['animal-store.service', 'animal-store-backup.service', 'animal-store@.service'];
const UNITS = [...SERVICES, 'animal-store-backup.timer'];

/** The highest exposure that `systemd-analyze security` may find, in tenths. 100 is a unit without any hardening. */
const EXPOSURE = 15;

/** Groups of system calls that each service is denied. */
const DENIED = ['@privileged', '@resources'];

const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;
const hasStrace = spawnSync('strace', ['--version']).status === 0;
const isSkipped = (isInstalled: boolean) => !isInstalled && !process.env['CI'];
const note = (isInstalled: boolean, name: string) =>
  isInstalled ? '' : ` (skipped: ${name} is not installed)`;

function unitFiles(): string[] {
  const folder = temporaryFolder();
  return UNITS.map((name) => {
    const file = join(folder, name);
    writeFileSync(file, unitText(name));
    return file;
  });
}

describe.skipIf(isSkipped(hasSystemd))(`systemd-analyze${note(hasSystemd, 'systemd')}`, () => {
  test('finds no mistake in the units', () => {
    const { status, stdout, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', ...unitFiles()], {
      encoding: 'utf8',
    });
    expect(`${stdout}${stderr}`).toBe('');
    expect(status).toBe(0);
  });

  test.each(SERVICES)('finds that %s is hardened', (name) => {
    const file = unitFiles().find((path) => path.endsWith(`/${name}`)) ?? '';
    const options = ['security', '--offline=true', '--no-pager', `--threshold=${EXPOSURE}`, file];
    const { status, stdout, stderr } = spawnSync('systemd-analyze', options, { encoding: 'utf8' });
    expect(stdout, stderr).toContain('Overall exposure level');
    expect(status, stdout).toBe(0);
  });
});

/** Starts the command of the server with the environment of the unit, perhaps below another program. */
async function startServer(
  wrapper: readonly string[] = [],
): Promise<{ running: RunningProcess; folder: string; client: Client }> {
  const unit = unitText('animal-store.service');
  const [folder, port] = [temporaryFolder(), await freePort()];
  const env = { ...environmentOf(unit, folder), API_KEYS: OPERATOR_KEY, PORT: String(port) };
  const [program, words] = commandOf(unit);
  const [command = '', ...args] = [...wrapper, program, ...words];
  const running = runCommand(command, args, { cwd: folder, env });
  await expect.poll(() => running.out.stdout).toContain('Listening on');
  const client = new Client(`http://127.0.0.1:${port}`, OPERATOR_KEY);
  onTestFinished(() => client.close());
  return { running, folder, client };
}

describe('animal-store.service', () => {
  test('starts a server that stores its data in the folder of the unit, and writes no key to the journal', async () => {
    const { running, folder, client } = await startServer();
    expect((await client.post(REX_JSON)).status).toBe(201);
    expect(statSync(join(folder, 'animal-store.db')).mode & 0o077).toBe(0);
    expect(`${running.out.stdout}${running.out.stderr}`).not.toMatch(/\bpets_\w/);
    expect(await stopService(running)).toEqual({ code: 0, signal: null });
  });

  test('does not restart a server whose configuration is invalid', async () => {
    const unit = unitText('animal-store.service');
    const { status } = await endOf(runCommand(...commandOf(unit), { env: { PORT: 'none' } }));
    expect(settings(unit, 'RestartPreventExitStatus')).toEqual([String(status)]);
  });

  const title = 'allows every system call that the server makes';
  test.skipIf(isSkipped(hasSystemd && hasStrace))(
    `${title}${note(hasSystemd && hasStrace, 'systemd or strace')}`,
    async () => {
      const file = join(temporaryFolder(), 'calls');
      const { running, folder, client } = await startServer(['strace', '-f', '-qq', '-o', file]);
      expect((await client.post(REX_JSON)).status).toBe(201);
      expect((await client.get('/v1/pets')).status).toBe(200);
      expect((await client.get('/metrics')).status).toBe(200);
      stopTraced(running);
      expect(await running.exit).toEqual({ code: 0, signal: null });
      expect(existsSync(join(folder, 'animal-store.db'))).toBe(true);
      expect(deniedCalls(file, 'animal-store.service')).toEqual([]);
    },
  );
});

/** Stops the program that strace runs. */
function stopTraced({ child: { pid } }: RunningProcess): void {
  process.kill(Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()), 'SIGTERM');
}

/** Returns the system calls in a file of strace that the unit does not allow. */
function deniedCalls(file: string, unit: string): string[] {
  const calls = readFileSync(file, 'utf8').matchAll(/^\d+ +([a-z_0-9]+)\(/gm);
  const made = new Set([...calls].map(([, call = '']) => call));
  expect(made.size).toBeGreaterThan(30);
  const allowed = allowedCalls(unit);
  // SQLite gives the files that root creates to the owner of the store. The user of the unit is not root.
  if (process.getuid?.() === 0) made.delete('fchown');
  return [...made].filter((call) => !allowed.has(call));
}

/** The system calls of the filter, in which a group can contain other groups. */
function allowedCalls(unit: string): Set<string> {
  expect(settings(unitText(unit), 'SystemCallFilter')).toEqual(['@system-service', `~${DENIED.join(' ')}`]);
  const calls = callsOf('@system-service');
  for (const group of DENIED) for (const call of callsOf(group)) calls.delete(call);
  return calls;
}

function callsOf(group: string): Set<string> {
  const names = execFileSync('systemd-analyze', ['--no-pager', 'syscall-filter', group], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => /^ +[@a-z]/.test(line))
    .map((line) => line.trim());
  return new Set(names.flatMap((name) => (name.startsWith('@') ? [...callsOf(name)] : [name])));
}

/** The start of each command. The test of the command of operators executes it. */
const PREFERS_FILE = 'test -z "$${DATABASE_URL_FILE-}" || unset DATABASE_URL; exec';

test.each([...SERVICES, 'animal-store'])('%s prefers DATABASE_URL_FILE to its own DATABASE_URL', (name) => {
  expect(unitText(name)).toContain(PREFERS_FILE);
});

/** Programs in the place of systemd's, which do not work without a running systemd. Each prints its arguments. */
const SYSTEMD_RUN = `#!/bin/sh
printf '%s\\0' "$@"
for argument do case $argument in EnvironmentFile=/*) cat "/$(echo "$argument" | cut -d / -f 2-)" >"$TMP_FOLDER/secrets";; esac; done
if test -e "$TMP_FOLDER/wait"; then
  touch "$TMP_FOLDER/waits"
  until test -e "$TMP_FOLDER/killed"; do sleep 0.05; done
  exit 130
fi
exit 3
`;
const SYSTEMCTL = `#!/bin/sh
test -e "$TMP_FOLDER/known" || { touch "$TMP_FOLDER/known"; exit 1; }
printf '%s\\n' "$@" >"$TMP_FOLDER/killed.new"
mv "$TMP_FOLDER/killed.new" "$TMP_FOLDER/killed"
`;

/** Returns a folder with programs in the place of systemd's, and the environment that finds them. */
function systemdPrograms(): { folder: string; env: Record<string, string> } {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'systemd-run'), SYSTEMD_RUN, { mode: 0o755 });
  writeFileSync(join(folder, 'systemctl'), SYSTEMCTL, { mode: 0o755 });
  return { folder, env: { PATH: `${folder}:${process.env['PATH']}`, TMP_FOLDER: folder } };
}

describe('the command of operators', () => {
  test('lets systemd read the settings, and passes its arguments unchanged', async () => {
    const { folder, env: programs } = systemdPrograms();
    const given = ['keys', 'create', '--name', "it's $HOME and $$\n\n"];
    const command = [join(DEPLOY, 'animal-store'), ...given];
    const { out, status } = await endOf(runCommand('sh', command, { env: programs }));
    expect(status).toBe(3);
    const args = out.split('\0').slice(0, -1);
    expect(args).toEqual(expect.arrayContaining(['--pipe', '--wait', 'User=animal-store']));
    const settingsOf = args.filter((_, index) => args[index - 1] === '-p');
    const unit = unitText('animal-store.service');
    expect(settingsOf).toContain(`EnvironmentFile=${settings(unit, 'EnvironmentFile')[0]}`);
    expect(settingsOf).toContain(
      `Environment=${settings(unit, 'Environment').find((line) => line.includes('sqlite:'))}`,
    );
    // Replaces the escapes as systemd does.
    const [shell = '', ...words] = args
      .slice(args.indexOf('/bin/sh'))
      .map((word) => word.replaceAll('$$', '$'));
    const script = join(folder, 'print');
    writeFileSync(script, '#!/bin/sh\nprintf "%s\\0" "$DATABASE_URL" "$@"\n', { mode: 0o755 });
    words[2] = script;
    for (const [env, url] of [
      [{ DATABASE_URL: 'x' }, 'x'],
      [{ DATABASE_URL: 'x', DATABASE_URL_FILE: '/file' }, ''],
    ] as const) {
      const ended = await endOf(runCommand(shell, words, { env: { ...programs, ...env } }));
      expect(ended.out.split('\0').slice(0, -1)).toEqual([
        url,
        expect.stringContaining('bin/animal-store.js'),
        ...given,
      ]);
    }
  });

  test("passes the caller's key in a file, and removes the file", async () => {
    const { folder, env } = systemdPrograms();
    const API_KEY = 'a"b$c`d\\e';
    const command = [join(DEPLOY, 'animal-store'), 'pets', 'list'];
    const { out } = await endOf(runCommand('sh', command, { env: { ...env, API_KEY } }));
    expect(readFileSync(join(folder, 'secrets'), 'utf8')).toBe('API_KEY="a\\"b\\$c\\`d\\\\e"\n');
    expect(out).not.toContain(API_KEY);
    const [, file = ''] = /EnvironmentFile=(\/[^\0]+)/.exec(out) ?? [];
    expect(file).not.toBe('');
    expect(existsSync(file)).toBe(false);
  });

  test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    'passes %s to the command, and waits for it',
    async (signal) => {
      const { folder, env } = systemdPrograms();
      writeFileSync(join(folder, 'wait'), '');
      const running = runCommand('setsid', ['sh', join(DEPLOY, 'animal-store'), 'import', '-'], { env });
      await expect.poll(() => existsSync(join(folder, 'waits'))).toBe(true);
      // A terminal and timeout(1) send the signal to systemd-run, too.
      process.kill(-(running.child.pid as number), signal);
      const { out, status } = await endOf(running);
      expect(status).toBe(130);
      const [, unit] = /--unit=([^\0]+)/.exec(out) ?? [];
      expect(readFileSync(join(folder, 'killed'), 'utf8').split('\n').slice(0, -1)).toEqual([
        'kill',
        `--signal=${signal.slice(3)}`,
        unit,
      ]);
    },
  );
});

describe('animal-store-backup.service', () => {
  test('makes a backup while the server runs, which can be restored, and deletes old ones beyond the newest 7', async () => {
    const work = new Workspace();
    const backups = work.path('backups');
    mkdirSync(backups);
    await work.createKey();
    const server = await work.serve();
    await work.run(['import', '-'], `${REX_JSON}\n`);
    const saved = await work.output('export');
    // The clock may have been wrong, so some old backups must be kept beside the new one.
    const old = Array.from({ length: 9 }, (_, index) => `2020-01-0${index + 1}T030000Z.db`);
    const others = ['before-upgrade.db', 'old.txt'];
    for (const name of [...old, ...others, 'old.db.1.partial']) {
      writeFileSync(join(backups, name), '');
      const time = Date.now() / 1000 - 15 * 24 * 3600;
      utimesSync(join(backups, name), time, time);
    }
    writeFileSync(join(backups, '2019-01-01T030000Z.db'), '');

    const unit = unitText('animal-store-backup.service').replaceAll('/var/lib/animal-store-backups', backups);
    for (const name of ['ExecStart', 'ExecStartPost']) {
      const env = { DATABASE_URL: `sqlite:${work.store}` };
      expect(await endOf(runCommand(...commandOf(unit, name), { env }))).toMatchObject({
        status: 0,
        err: '',
      });
    }

    const left = readdirSync(backups).toSorted();
    const made = left.find((name) => /^\d{4}-\d\d-\d\dT\d{6}Z\.db$/.test(name) && name > '2021') ?? '';
    expect(left).toEqual(['2019-01-01T030000Z.db', ...old.slice(3), made, ...others]);
    await work.run(['import', '-'], `${newPetJson(MAX)}\n`);
    await stopService(server);
    await work.output('restore', '--force', join(backups, made));
    expect(await work.output('export')).toBe(saved);
  });

  test('has the store of the server by default', () => {
    expect(new Set(SERVICES.map((name) => environmentOf(unitText(name), '')['DATABASE_URL'])).size).toBe(1);
  });
});
