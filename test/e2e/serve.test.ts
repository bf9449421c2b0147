import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { EXAMPLE_JSON } from '../../src/adapters/cli/pet-attributes.ts';
import { isApiKey } from '../../src/domain/api-key.ts';
import { newPet } from '../../src/domain/pet.ts';
import { parsePetMembers, petJson } from '../../src/domain/pet-json.ts';
import { Client } from '../support/client.ts';
import { Connection } from '../support/connection.ts';
import { linesOf } from '../support/log-streams.ts';
import {
  OPERATOR_KEY,
  runBin,
  runCommand,
  startService,
  stopService,
  temporaryFolder,
} from '../support/process.ts';
import { createInFlight, REX } from './workspace.ts';

const KEY = /pets_[0-9A-Za-z]+/g;
const hasCurl =
  spawnSync('curl', ['--version']).status === 0 && spawnSync('bash', ['--version']).status === 0;

describe('animal-store serve', () => {
  const note = hasCurl ? '' : ' (skipped: there is no curl)';
  test.skipIf(!hasCurl)(
    `prints an API key at the first start only, and a command that works unchanged${note}`,
    async () => {
      const cwd = temporaryFolder();
      const first = await startService({ cwd, env: { LOG_LEVEL: 'debug' } });
      await expect.poll(() => first.out.stdout).toMatch(/curl .*\n/);
      const [key = '', ...more] = new Set(first.out.stdout.match(KEY));
      expect(more).toEqual([]);
      expect(key).toHaveLength('pets_'.length + 49);
      expect(isApiKey(key)).toBe(true);
      expect(first.out.stdout.split('\n').filter((line) => line.trim() === key)).toHaveLength(1);

      const command = /^ *(curl .*)$/m.exec(first.out.stdout)?.[1] ?? '';
      const pet = petJson({ id: 1n, ...newPet(parsePetMembers(EXAMPLE_JSON)) });
      const curl = runCommand('bash', ['-c', command], {});
      await curl.exit;
      expect(curl.out).toEqual({ stdout: `${pet}\n[${pet}]\n`, stderr: '' });
      expect(await stopService(first)).toEqual({ code: 0, signal: null });
      const folder = join(cwd, 'data');
      expect(readdirSync(folder)).toContain('animal-store.db');
      for (const file of readdirSync(folder))
        expect(readFileSync(join(folder, file)).includes(key)).toBe(false);
      expect(first.out.stderr).toContain('"requestId"');
      expect(first.out.stderr).not.toMatch(KEY);

      const second = await startService({ cwd });
      expect((await new Client(second.origin, key).get('/v1/pets')).body).toBe(`[${pet}]`);
      expect(await stopService(second)).toEqual({ code: 0, signal: null });
      expect(second.out.stdout).toMatch(
        /\nTo create an API key for this store: animal-store keys create --name NAME/,
      );
      expect(second.out.stdout + second.out.stderr).not.toMatch(KEY);
    },
  );

  test('--host and --port have precedence, and FIRST_KEY=none keeps keys out of all output', async () => {
    const cwd = temporaryFolder();
    const running = runBin(['serve', '--host', '127.0.0.2', '--port', '0'], {
      cwd,
      env: { HOST: '127.0.0.1', PORT: 'none', FIRST_KEY: 'none', LOG_LEVEL: 'debug' },
    });
    await expect.poll(() => running.out.stdout).toContain('keys create --name NAME');
    const { stdout } = running.out;
    const origin = /^Listening on (http:\/\/127\.0\.0\.2:\d+)\/v1\n/.exec(stdout)?.[1] ?? '';
    const created = runBin(['keys', 'create', '--name', 'me'], { cwd });
    await created.exit;
    expect((await new Client(origin, created.out.stdout.trim()).get('/v1/pets')).status).toBe(200);
    await stopService(running);
    expect(running.out.stdout + running.out.stderr).not.toMatch(KEY);
  });

  test('on SIGHUP completes requests in flight, logs them in JSON lines, and exits with status 0', async () => {
    const service = await startService({ env: { API_KEYS: OPERATOR_KEY, SHUTDOWN_TIMEOUT_MS: '600000' } });
    const connection = await createInFlight(service.origin);
    // A terminal that is closed sends SIGHUP; twice, like the two SIGINTs of one Ctrl-C on `npm start`.
    for (let count = 0; count < 2; count++) service.child.kill('SIGHUP');
    await expect.poll(() => service.out.stderr).toContain('"stopping"');
    await expect.poll(() => Connection.open(service.origin).catch(String)).toContain('ECONNREFUSED');
    connection.write(REX);
    expect(await connection.next()).toMatchObject({ status: 201, headers: { connection: 'close' } });
    expect(connection.interim).toEqual([100]);
    expect(await service.exit).toEqual({ code: 0, signal: null });
    const [, store = ''] = /^Store: (\/.*\/data\/animal-store\.db)\n$/m.exec(service.out.stdout) ?? [];
    expect(linesOf(service.out.stderr)).toMatchObject([
      { msg: 'listening', storage: 'sqlite', store },
      { msg: 'stopping' },
      { msg: 'request', method: 'POST', route: '/v1/pets', status: 201, keyId: 'env-1' },
      { msg: 'stopped' },
    ]);
  });

  test('a second signal after a second ends the server immediately', async () => {
    const service = await startService({ env: { API_KEYS: OPERATOR_KEY, SHUTDOWN_TIMEOUT_MS: '600000' } });
    const connection = await createInFlight(service.origin);
    const repeating = setInterval(() => service.child.kill('SIGINT'), 100);
    expect(await service.exit).toEqual({ code: null, signal: 'SIGINT' });
    clearInterval(repeating);
    expect(service.out.stderr).toContain('"stopping"');
    expect(service.out.stderr).not.toContain('"stopped"');
    expect(await connection.rest()).toEqual([]);
  });
});
