import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isApiKey } from '../../src/domain/api-key.ts';
import { Client } from '../support/client.ts';
import { Connection } from '../support/connection.ts';
import { linesOf } from '../support/log-streams.ts';
import {
  BIN,
  OPERATOR_KEY,
  runCommand,
  startService,
  stopService,
  temporaryFolder,
} from '../support/process.ts';

const KEY = /pets_[0-9A-Za-z]+/g;
const REX = '{"name":"Rex","categoryId":7}';
const hasCurl =
  spawnSync('curl', ['--version']).status === 0 && spawnSync('bash', ['--version']).status === 0;
const hasScript = spawnSync('script', ['--version']).stdout?.includes('util-linux') === true;
const TIMEOUT = 30_000;

describe('animal-store serve', { timeout: TIMEOUT }, () => {
  test('prints an API key once, at the first start with a new file, and never logs the key', async () => {
    const cwd = temporaryFolder();
    const first = await startService({ cwd, env: { LOG_LEVEL: 'debug' } });
    await expect.poll(() => first.out.stdout).toContain('curl ');
    const [key = '', ...more] = new Set(first.out.stdout.match(KEY));
    expect(more).toEqual([]);
    expect(key).toHaveLength('pets_'.length + 49);
    expect(isApiKey(key)).toBe(true);
    expect(first.out.stdout.split('\n').filter((line) => line.trim() === key)).toHaveLength(1);
    const created = await new Client(first.origin, key).post(REX);
    expect(created.status).toBe(201);
    expect(await stopService(first)).toEqual({ code: 0, signal: null });

    const folder = join(cwd, 'data');
    expect(readdirSync(folder)).toContain('animal-store.db');
    for (const file of readdirSync(folder)) {
      expect(readFileSync(join(folder, file)).includes(key)).toBe(false);
    }

    const second = await startService({ cwd });
    const listed = await new Client(second.origin, key).get('/v1/pets');
    expect(listed).toMatchObject({ status: 200, body: `[${created.body}]` });
    await stopService(second);
    expect(second.out.stdout).not.toMatch(KEY);
    expect(second.out.stdout).toBe(
      `Listening on ${second.origin}/v1\nReference page: ${second.origin}/docs\nTo create another API key for this database: npx animal-store keys create --name NAME\n`,
    );
    for (const { stderr } of [first.out, second.out]) {
      expect(stderr).toContain('"requestId"');
      expect(stderr).not.toMatch(KEY);
    }
  });

  test(`prints a command that works unchanged: ${hasCurl ? 'run by bash' : 'without curl, only its requests are sent'}`, async () => {
    const { out, origin } = await startService();
    await expect.poll(() => out.stdout).toMatch(/curl .*\n/);
    const line = /^ *(curl .*)$/m.exec(out.stdout)?.[1] ?? '';
    const pet = '{"id":1,"name":"Rex","categoryId":7,"status":"available"}';
    if (hasCurl) {
      const { stdout, stderr } = spawnSync('bash', ['-c', line], { encoding: 'utf8' });
      expect({ stdout, stderr }).toEqual({ stdout: `${pet}\n[${pet}]\n`, stderr: '' });
    } else {
      const client = new Client(origin, line.match(KEY)?.[0] ?? '');
      expect(line).toContain(`-d '${REX}' ${origin}/v1/pets `);
      expect((await client.post(REX)).body).toBe(pet);
      expect((await client.get('/v1/pets')).body).toBe(`[${pet}]`);
    }
  });

  test('creates no key when API_KEYS contains one', async () => {
    const { out, client, origin } = await startService({ env: { API_KEYS: OPERATOR_KEY } });
    expect((await client.get('/v1/pets')).status).toBe(200);
    expect((await new Client(origin, `${OPERATOR_KEY}x`).get('/v1/pets')).status).toBe(401);
    await expect.poll(() => out.stderr).toContain('"keyId":"env-1"');
    expect(out.stdout).not.toMatch(KEY);
    expect(out.stderr).not.toContain(OPERATOR_KEY);
  });

  test('behind a proxy: logs the client that TRUST_PROXY lets it know, and links to the path of PUBLIC_URL', async () => {
    const { out, client } = await startService({
      env: { API_KEYS: OPERATOR_KEY, TRUST_PROXY: '127.0.0.0/8', PUBLIC_URL: 'https://pets.example/shop' },
    });
    const forwarded = { 'X-Forwarded-For': '198.51.100.1, 203.0.113.9', 'X-Forwarded-Proto': 'https' };
    const created = await client.post(REX, forwarded);
    expect(created).toMatchObject({ status: 201, headers: { location: '/shop/v1/pets/1' } });
    await client.get(`/nothing?key=${OPERATOR_KEY}`, forwarded);
    const address = '203.0.113.9';
    await expect.poll(() => out.stderr).toContain('/nothing');
    expect(linesOf(out.stderr).filter(({ msg }) => msg === 'request')).toMatchObject([
      { status: 201, route: '/v1/pets', address },
      { status: 404, path: '/nothing', address },
    ]);
  });

  test('stores nothing on disk with DATABASE_URL=memory:', async () => {
    const cwd = temporaryFolder();
    const env = { DATABASE_URL: 'memory:', API_KEYS: OPERATOR_KEY };
    const first = await startService({ cwd, env });
    expect((await first.client.post(REX)).status).toBe(201);
    expect((await first.client.get('/v1/pets')).body).toContain('Rex');
    expect(await stopService(first)).toEqual({ code: 0, signal: null });
    expect(readdirSync(cwd)).toEqual([]);
    const second = await startService({ cwd, env });
    expect((await second.client.get('/v1/pets')).body).toBe('[]');
  });

  test('uses the configured file, and creates its folder', async () => {
    const cwd = temporaryFolder();
    const env = { DATABASE_URL: `sqlite:${cwd}/deep/er/pets.db`, API_KEYS: OPERATOR_KEY };
    const { client } = await startService({ cwd, env });
    expect((await client.post(REX)).status).toBe(201);
    expect(existsSync(join(cwd, 'deep/er/pets.db'))).toBe(true);
    expect(existsSync(join(cwd, 'data'))).toBe(false);
  });

  test.each(['SIGTERM', 'SIGINT'] as const)(
    'on %s completes requests in flight, and exits with status 0',
    async (signal) => {
      const service = await startService({ env: { API_KEYS: OPERATOR_KEY } });
      const connection = await Connection.open(service.origin);
      const head = `POST /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${OPERATOR_KEY}\r\n`;
      connection.write(
        `${head}Content-Type: application/json\r\nContent-Length: ${REX.length}\r\nExpect: 100-continue\r\n\r\n`,
      );
      await new Promise((resolve) => connection.socket.once('received', resolve));
      const ready = await Connection.open(service.origin);
      ready.write('GET /readyz HTTP/1.1\r\nHost: x\r\n');
      await service.client.get('/livez');
      service.child.kill(signal);
      await expect.poll(() => service.out.stderr).toContain('"stopping"');
      service.child.kill(signal);
      ready.socket.write('\r\n');
      expect((await ready.next()).status).toBe(503);
      await expect.poll(() => Connection.open(service.origin).catch(String)).toContain('ECONNREFUSED');
      connection.write(REX);
      expect(await connection.next()).toMatchObject({ status: 201, headers: { connection: 'close' } });
      expect(connection.interim).toEqual([100]);
      expect(await service.exit).toEqual({ code: 0, signal: null });
      expect(service.out.stderr).toContain('"stopped"');
    },
  );

  test('waits for requests in flight for at most SHUTDOWN_TIMEOUT_MS', async () => {
    const service = await startService({ env: { API_KEYS: OPERATOR_KEY, SHUTDOWN_TIMEOUT_MS: '200' } });
    const connection = await Connection.open(service.origin);
    connection.write(`POST /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${OPERATOR_KEY}\r\n`);
    connection.socket.write(
      'Content-Type: application/json\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n',
    );
    await new Promise((resolve) => connection.socket.once('received', resolve));
    expect(await stopService(service)).toEqual({ code: 0, signal: null });
    expect(await connection.rest()).toEqual([]);
  });

  test('logs according to LOG_LEVEL, on standard error, in JSON lines', async () => {
    const quiet = await startService({ env: { API_KEYS: OPERATOR_KEY, LOG_LEVEL: 'silent' } });
    await quiet.client.get('/v1/pets');
    await stopService(quiet);
    expect(quiet.out.stderr).toBe('');
    const loud = await startService({ env: { API_KEYS: OPERATOR_KEY } });
    await loud.client.get('/v1/pets?limit=3', { 'X-Request-Id': 'my-id' });
    await stopService(loud);
    const lines = loud.out.stderr
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.map(({ msg }) => msg)).toEqual(['listening', 'request', 'stopping', 'stopped']);
    expect(lines[1]).toMatchObject({
      method: 'GET',
      route: '/v1/pets',
      status: 200,
      requestId: 'my-id',
      keyId: 'env-1',
    });
    expect(loud.out.stdout).toBe(`Listening on ${loud.origin}/v1\nReference page: ${loud.origin}/docs\n`);
  });

  test('logs readable lines on a terminal', { skip: !hasScript }, async () => {
    const command = `"${process.execPath}" "${BIN}" serve`;
    const { child, out } = runCommand('script', ['-qec', command, '/dev/null'], {
      env: { API_KEYS: OPERATOR_KEY },
    });
    await expect.poll(() => out.stdout, { timeout: 10_000 }).toMatch(/INFO.*: .*listening/);
    expect(out.stdout).not.toContain('{"level"');
    child.kill('SIGTERM');
  });

  test('warns from the sunset date of GET /v1/pets/{petId}, and still serves it', async () => {
    const late =
      'const now = Date.now; const ahead = Date.UTC(2030, 11, 5) - now(); Date.now = () => now() + ahead;';
    const nodeArgs = ['--import', `data:text/javascript,${encodeURIComponent(late)}`];
    const { client, out } = await startService({ env: { API_KEYS: OPERATOR_KEY }, nodeArgs });
    await expect.poll(() => out.stderr).toContain('GET /v1/pets/{petId} has passed its sunset');
    expect((await client.post(REX)).status).toBe(201);
    expect((await client.get('/v1/pets/1')).status).toBe(200);
    const today = await startService({ env: { API_KEYS: OPERATOR_KEY } });
    await stopService(today);
    expect(today.out.stderr).not.toContain('sunset');
  });
});
