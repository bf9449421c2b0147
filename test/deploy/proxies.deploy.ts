/** The reverse proxies in `deploy`, with TLS, in front of a real server. Each test is done with nginx and with Caddy. */

import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { hasNginx, startNginx, stop, untilListening } from '../faults/nginx.ts';
import { freePort } from '../support/free-port.ts';
import { REX_JSON } from '../support/pets.ts';
import {
  OPERATOR_KEY,
  type Service,
  startService,
  stopService,
  temporaryFolder,
} from '../support/process.ts';
import { DEPLOY } from './unit.ts';

const HOST = 'pets.example.org';

/** The address of the client. The proxy connects to the server from 127.0.0.1. */
const CLIENT = '127.0.0.2';

interface Certificate {
  readonly cert: string;
  readonly key: string;
}

interface Ports {
  readonly http: number;
  readonly https: number;
  /** The ports of one server, or of two servers on one store. */
  readonly servers: readonly number[];
}

async function startCaddy({ cert, key }: Certificate, ports: Ports): Promise<void> {
  const text = [
    ['proxy 127.0.0.1:3000', `proxy ${ports.servers.map((port) => `127.0.0.1:${port}`).join(' ')}`],
    [
      '\n{\n',
      `\n{\n\tadmin off\n\tdefault_bind 127.0.0.1\n\thttp_port ${ports.http}\n\thttps_port ${ports.https}\n`,
    ],
    [`\n${HOST} {\n`, `\n${HOST} {\n\ttls ${cert} ${key}\n`],
  ].reduce(
    (text, [from = '', to = '']) => {
      expect(text).toContain(from);
      return text.replaceAll(from, to);
    },
    readFileSync(join(DEPLOY, 'Caddyfile'), 'utf8'),
  );
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'Caddyfile'), text);
  const child = spawn('caddy', ['run', '--adapter', 'caddyfile', '--config', 'Caddyfile'], {
    cwd: folder,
    env: { PATH: process.env['PATH'], HOME: folder },
    stdio: 'ignore',
  });
  onTestFinished(() => stop(child));
  await untilListening(child, ports.https);
}

const PROXIES = [
  {
    name: 'nginx',
    isInstalled: hasNginx,
    start: (certificate: Certificate, ports: Ports) =>
      startNginx({ servers: ports.servers, certificate, ports }),
  },
  { name: 'caddy', isInstalled: spawnSync('caddy', ['version']).status === 0, start: startCaddy },
] as const;

interface Response {
  readonly status: number | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** Servers behind a proxy, and a function that sends a request to the proxy. */
async function deployment(start: (typeof PROXIES)[number]['start'], count = 1) {
  const folder = temporaryFolder();
  const certificate = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') };
  execFileSync(
    'openssl',
    [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'],
      ...['-subj', `/CN=${HOST}`, '-addext', `subjectAltName=DNS:${HOST}`],
      ...['-out', certificate.cert, '-keyout', certificate.key],
    ],
    { stdio: 'ignore' },
  );
  const settings = {
    API_KEYS: OPERATOR_KEY,
    DATABASE_URL: `sqlite:${folder}/pets.db`,
    LOG_LEVEL: 'info',
    TRUST_PROXY: '1',
  };
  const servers: Service[] = [];
  while (servers.length < count) servers.push(await startService({ env: settings }));
  const [server] = servers as [Service];
  const ports = {
    http: await freePort(),
    https: await freePort(),
    servers: servers.map(({ origin }) => Number(new URL(origin).port)),
  };
  await start(certificate, ports);
  const agent = new Agent({ keepAlive: true, ca: readFileSync(certificate.cert), servername: HOST });
  onTestFinished(() => agent.destroy());

  function send(
    protocol: 'http' | 'https',
    path: string,
    options: {
      method?: string;
      headers?: Record<string, string>;
      body?: string;
      isUnfinished?: boolean;
    } = {},
  ): Promise<Response> {
    const { method = 'GET', headers = {}, body, isUnfinished = false } = options;
    const target = {
      host: '127.0.0.1',
      localAddress: CLIENT,
      path,
      method,
      headers: { Host: HOST, Authorization: `Bearer ${OPERATOR_KEY}`, ...headers },
    };
    return new Promise((resolve, reject) => {
      const outgoing =
        protocol === 'http'
          ? httpRequest({ ...target, port: ports.http })
          : httpsRequest({ ...target, port: ports.https, agent });
      outgoing.on('error', reject).on('response', async (incoming) => {
        const chunks = await incoming.toArray();
        const { statusCode: status, headers } = incoming;
        resolve({ status, headers, body: Buffer.concat(chunks).toString() });
      });
      if (isUnfinished) outgoing.flushHeaders();
      else outgoing.end(body);
    });
  }
  return { server, servers, settings, ports, send };
}

/** Expects a response with the body of an error, whether it comes from the server or from the proxy. */
function expectError({ status, headers, body }: Response, expected: number, code: string): void {
  expect({ status, type: headers['content-type'] }).toEqual({ status: expected, type: 'application/json' });
  expect(JSON.parse(body)).toEqual({ code, message: expect.any(String), status: expected });
  // The server has no CORS_ORIGIN, so only the proxy sends this field.
  if (headers['x-request-id'] === undefined) expect(headers['access-control-allow-origin']).toBe('*');
}

for (const { name, isInstalled, start } of PROXIES) {
  const note = isInstalled ? '' : ` (skipped: ${name} is not installed)`;
  describe.skipIf(!isInstalled && !process.env['CI'])(`${name}${note}`, () => {
    test('serves the API over TLS, and tells the server the address of the client', async () => {
      const { server, send } = await deployment(start);
      const created = await send('https', '/v1/pets', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', 'X-Forwarded-For': '203.0.113.9' },
        body: REX_JSON,
      });
      expect(created.status).toBe(201);
      expect(created.headers['strict-transport-security']).toBe('max-age=31536000');
      const lines = () => server.out.stderr.split('\n').filter((line) => line.includes('"POST"'));
      await expect.poll(() => lines().length).toBe(1);
      expect(JSON.parse(lines()[0] ?? '')).toMatchObject({ address: CLIENT, status: 201 });
    });

    test('redirects HTTP to HTTPS', async () => {
      const { send } = await deployment(start);
      const { status, headers } = await send('http', '/v1/pets?limit=1');
      expect({ status, location: headers.location }).toEqual({
        status: 308,
        location: `https://${HOST}/v1/pets?limit=1`,
      });
    });

    test('does not show the metrics, however their path is written', async () => {
      const { server, send } = await deployment(start);
      expect((await server.client.get('/metrics')).status).toBe(200);
      const paths = (
        '/metrics /metrics/ /metrics?x=1 /%6detrics //metrics /./metrics /v1/../metrics /METRICS ' +
        '/metrics%2f /metrics;x'
      ).split(' ');
      const shown: string[] = [];
      for (const path of paths) {
        const { status, body } = await send('https', path);
        if (status === 200 || body.includes('animal_store_')) shown.push(path);
      }
      expect(shown).toEqual([]);
    });

    test('refuses what the server would refuse, with the same status and an error in JSON', async () => {
      const { send } = await deployment(start);
      const post = (length: number, headers = {}) =>
        send('https', '/v1/pets', {
          method: 'POST',
          headers: { 'Content-Type': 'application/json', ...headers },
          body: REX_JSON.padEnd(length),
        });
      expectError(await post(17_000), 413, 'payload_too_large');
      expectError(await post(200_000), 413, 'payload_too_large');
      expectError(await post(1, { 'X-Long': 'x'.repeat(17_000) }), 431, 'headers_too_large');
      if (name === 'nginx') {
        expectError(await post(1, { 'X-Long': 'x'.repeat(40_000) }), 431, 'headers_too_large');
        expectError(await send('https', '/v1/pets', { method: 'TRACE' }), 405, 'method_not_allowed');
        const plain = await fetch(`http://127.0.0.1:${(await deployment(start)).ports.https}/v1/pets`);
        expect([plain.status, await plain.json()]).toEqual([400, expect.objectContaining({ status: 400 })]);
      }
      for (const path of ['/metrics', '/.errors/503'])
        expectError(await send('https', path), 404, 'not_found');
    });

    if (name === 'nginx') {
      test('adds nothing to the responses of the server', async () => {
        const { send } = await deployment(start);
        for (const path of ['/v1/pets', '/v1/none']) {
          const { headers } = await send('https', path, { headers: { Origin: 'https://example.org' } });
          expect(headers['x-request-id']).toBeDefined();
          expect(headers['access-control-allow-origin']).toBeUndefined();
          expect(headers['access-control-expose-headers']).toBeUndefined();
        }
      });

      test('refuses what is too much of one address: an IPv4 address, or an IPv6 network', async () => {
        const { send } = await deployment(start);
        // The test's nginx takes the address of the client from this field.
        const from = (address: string) => ({ 'X-Test-Address': address });
        const respond = (address: string) => send('https', '/livez', { headers: from(address) });
        const statusOf = async (address: string) => (await respond(address)).status;
        const unfinished = (address: string) => {
          const headers = { ...from(address), 'Content-Length': '10' };
          void send('https', '/v1/pets', { method: 'POST', headers, isUnfinished: true }).catch(() => {});
        };
        for (let count = 0; count < 100; count++) {
          unfinished(`2001:db8:1:2:${count.toString(16)}::1`);
          unfinished(`::ffff:10.0.0.${count}`);
        }
        await expect.poll(() => statusOf('2001:db8:1:2:ffff::1')).toBe(503);
        const response = await respond('2001:db8:1:2:ffff::1');
        expectError(response, 503, 'overloaded');
        expect(response.headers).toMatchObject({
          'retry-after': '1',
          'access-control-expose-headers': 'Retry-After',
          'strict-transport-security': 'max-age=31536000',
        });
        expect(await statusOf('2001:db8:1:3::1')).toBe(200);
        expect(await statusOf('::ffff:10.0.0.1')).toBe(200);
      });
    }

    test('serves again when a stopped server has started on its port', async () => {
      const { server, settings, ports, send } = await deployment(start);
      expect(await stopService(server)).toEqual({ code: 0, signal: null });
      expectError(await send('https', '/v1/pets'), 502, 'internal_error');
      await startService({ env: { ...settings, PORT: String(ports.servers[0]) } });
      expect((await send('https', '/v1/pets')).status).toBe(200);
    });

    test('sends requests to two servers, and to the other one while one is stopped', async () => {
      const { servers, send } = await deployment(start, 2);
      const statusesOf = async (count: number) => {
        const statuses = new Set<number | undefined>();
        for (; count > 0; count--) statuses.add((await send('https', '/v1/pets')).status);
        return [...statuses];
      };
      const served = ({ out }: Service) => out.stderr.split('"route":"/v1/pets"').length - 1;
      expect(await statusesOf(20)).toEqual([200]);
      for (const server of servers) await expect.poll(() => served(server)).toBeGreaterThan(5);
      expect(await stopService(servers[0] as Service)).toEqual({ code: 0, signal: null });
      expect(await statusesOf(20)).toEqual([200]);
    });
  });
}
