import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { EXAMPLE_JSON } from '../../src/adapters/cli/pet-attributes.ts';
import { isApiKey } from '../../src/domain/api-key.ts';
import { newPet } from '../../src/domain/pet.ts';
import { parsePetMembers, petJson, petsJson } from '../../src/domain/pet-json.ts';
import { createAnimalStore } from '../../src/library/index.ts';
import { Client } from '../support/client.ts';
import { Connection } from '../support/connection.ts';
import { linesOf } from '../support/log-streams.ts';
import { REX as REX_PET } from '../support/pets.ts';
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
  test.skipIf(!hasCurl)(`prints an API key once, and a command that works unchanged${note}`, async () => {
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
    for (const file of readdirSync(folder)) {
      expect(readFileSync(join(folder, file)).includes(key)).toBe(false);
    }
    expect(first.out.stderr).toContain('"requestId"');
    expect(first.out.stderr).not.toMatch(KEY);
  });

  test('prints no API key at the second start, and knows the pets and the key of the first', async () => {
    const cwd = temporaryFolder();
    const file = join(realpathSync(cwd), 'data/animal-store.db');
    mkdirSync(join(cwd, 'data'));
    const store = await createAnimalStore({ database: `sqlite:${file}` });
    const { key } = await store.apiKeys.create('me');
    await store.createPet(REX_PET);
    await store.close();
    const service = await startService({ cwd, env: { LOG_LEVEL: 'debug' } });
    const listed = await new Client(service.origin, key).get('/v1/pets');
    expect(listed).toMatchObject({
      status: 200,
      body: petsJson([{ id: 1n, ...REX_PET }]),
    });
    await stopService(service);
    const hint = service.out.stdout.split('\n')[3];
    expect(service.out.stdout).toBe(
      `Listening on ${service.origin}/v1\nReference page: ${service.origin}/docs\nStore: ${file}\n${hint}\n`,
    );
    expect(hint).toMatch(
      /^To create another API key for this store: keys create --name NAME, with the same settings$/,
    );
    expect(service.out.stderr).toContain('"requestId"');
    expect(service.out.stderr).not.toMatch(KEY);
  });

  test('--host and --port have precedence, and FIRST_KEY=none keeps keys out of all output', async () => {
    const cwd = temporaryFolder();
    const running = runBin(['serve', '--host', '127.0.0.2', '--port', '0'], {
      cwd,
      env: {
        HOST: '127.0.0.1',
        PORT: 'none',
        FIRST_KEY: 'none',
        LOG_LEVEL: 'debug',
      },
    });
    await expect.poll(() => running.out.stdout).toContain('keys create --name NAME');
    const { stdout } = running.out;
    const origin = /^Listening on (http:\/\/127\.0\.0\.2:\d+)\/v1\n/.exec(stdout)?.[1] ?? '';
    const created = runBin(['keys', 'create', '--name', 'me'], { cwd });
    await created.exit;
    const key = created.out.stdout.trim();
    expect((await new Client(origin, key).get('/v1/pets')).status).toBe(200);
    await stopService(running);
    expect(running.out.stdout + running.out.stderr).not.toMatch(KEY);
  });

  // A terminal that is closed sends SIGHUP.
  test.each(['SIGTERM', 'SIGHUP'] as const)(
    'on %s completes requests in flight, and exits with status 0',
    async (signal) => {
      const service = await startService({ env: { API_KEYS: OPERATOR_KEY, SHUTDOWN_TIMEOUT_MS: '600000' } });
      const connection = await createInFlight(service.origin);
      // Like the two SIGINTs of one Ctrl-C on `npm start`.
      for (let count = 0; count < 2; count++) service.child.kill(signal);
      await expect.poll(() => service.out.stderr).toContain('"stopping"');
      await expect.poll(() => Connection.open(service.origin).catch(String)).toContain('ECONNREFUSED');
      connection.write(REX);
      expect(await connection.next()).toMatchObject({ status: 201, headers: { connection: 'close' } });
      expect(connection.interim).toEqual([100]);
      expect(await service.exit).toEqual({ code: 0, signal: null });
      expect(service.out.stderr).toContain('"stopped"');
    },
  );

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

  test('logs in JSON lines on standard error, and nothing with LOG_LEVEL=silent', async () => {
    const quiet = await startService({ env: { API_KEYS: OPERATOR_KEY, LOG_LEVEL: 'silent' } });
    await quiet.client.get('/v1/pets');
    await stopService(quiet);
    expect(quiet.out.stderr).toBe('');
    const loud = await startService({ env: { API_KEYS: OPERATOR_KEY } });
    await loud.client.get('/v1/pets?limit=3', { 'X-Request-Id': 'my-id' });
    await stopService(loud);
    const lines = linesOf(loud.out.stderr);
    const messages = lines.map(({ msg }) => msg);
    const expected = ['listening', 'request', 'stopping', 'stopped'];
    expect(messages).toEqual(expected);
    expect(lines.find(({ msg }) => msg === 'request')).toMatchObject({
      method: 'GET',
      route: '/v1/pets',
      status: 200,
      requestId: 'my-id',
      keyId: 'env-1',
    });
    const [store, ...more] = loud.out.stdout.split('\n').slice(2);
    expect([store, ...more]).toEqual([expect.stringMatching(/^Store: \/.*\/data\/animal-store\.db$/), '']);
    expect(lines[0]).toMatchObject({ storage: 'sqlite', store: store?.slice('Store: '.length) });
  });
});
