/**
 * `animal-store@.service` and the restart of two servers that `docs/deploy.md` describes. `deployment.faults.ts` shows that
 * no request fails meanwhile.
 */

import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { endOf } from '../e2e/workspace.ts';
import { blocksOf } from '../manuals/manuals.ts';
import { freePort } from '../support/free-port.ts';
import { OPERATOR_KEY, type RunningProcess, runCommand, temporaryFolder } from '../support/process.ts';
import { listen } from '../support/sockets.ts';
import { commandOf, environmentOf, unitText } from './unit.ts';

const UNIT = 'animal-store@.service';
const hasCurl = spawnSync('curl', ['--version']).status === 0;
const isSkipped = !hasCurl && !process.env['CI'];

/** The settings of a unit, except for its name, its port and its comments. */
function settingsWithoutPort(name: string): string[] {
  return unitText(name)
    .replace(' PORT=3000', '')
    .replace(' --port %i', '')
    .split('\n')
    .filter((line) => line !== '' && !/^#|^(Description|Documentation)=/.test(line));
}

test('the unit of one of several servers has the settings of the unit of one server', () => {
  expect(settingsWithoutPort(UNIT)).toEqual(settingsWithoutPort('animal-store.service'));
});

/** Starts an instance of the unit. Resolves when its process runs, as `systemctl start` does. */
async function startInstance(port: number, folder: string): Promise<RunningProcess> {
  const unit = unitText(UNIT).replaceAll('%i', String(port));
  // The variable is wrong on purpose: the port of the instance has priority over the settings of the machine.
  const env = { ...environmentOf(unit, folder), API_KEYS: OPERATOR_KEY, PORT: '1' };
  const running = runCommand(...commandOf(unit), { cwd: folder, env });
  await once(running.child, 'spawn');
  return running;
}

/**
 * Makes a program `systemctl` that asks this process to restart an instance, and waits for the restart. The server is
 * asked to stop with the signal of the unit, and another one is started after its exit.
 */
async function systemctlOf(servers: Map<string, RunningProcess>, folder: string): Promise<string> {
  const control = createServer(async (request, response) => {
    const [, instance = ''] = /^\/restart\/animal-store@(\d+)$/.exec(request.url ?? '') ?? [];
    const server = servers.get(instance);
    server?.child.kill('SIGTERM');
    response.statusCode = (await server?.exit)?.code === 0 ? 200 : 500;
    servers.set(instance, await startInstance(Number(instance), folder));
    response.end();
  });
  const origin = await listen(control);
  const programs = temporaryFolder();
  writeFileSync(join(programs, 'systemctl'), `#!/bin/sh\nexec curl --silent --fail "${origin}/$1/$2"\n`);
  chmodSync(join(programs, 'systemctl'), 0o755);
  return `${programs}:${process.env['PATH']}`;
}

test.skipIf(isSkipped)(
  `two instances are restarted by the commands of the manual${hasCurl ? '' : ' (skipped: needs curl)'}`,
  async () => {
    const folder = temporaryFolder();
    const ports = [await freePort(), await freePort()] as const;
    const servers = new Map<string, RunningProcess>();
    for (const port of ports) servers.set(String(port), await startInstance(port, folder));
    const before = [...servers.values()];
    for (const { out } of before) await expect.poll(() => out.stdout).toContain('Listening on');

    const { code = '' } = blocksOf('docs/deploy.md').find(({ language }) => language === 'sh') ?? {};
    const script = code.replaceAll(/\b300([12])\b/g, (_, number) => String(ports[number - 1]));
    const PATH = await systemctlOf(servers, folder);
    const { out, status } = await endOf(runCommand('sh', ['-c', script], { env: { PATH } }));
    expect({ out, status }).toEqual({ out: '{"status":"ok"}{"status":"ok"}', status: 0 });
    for (const { exit } of before) expect(await exit).toEqual({ code: 0, signal: null });
    for (const port of ports) expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200);
  },
);
