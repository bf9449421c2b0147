/** Many rude connections, in front of the server and in front of the shipped nginx.conf, and a polite client beside them. */

import { fork } from 'node:child_process';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { until } from '../support/clock.ts';
import { wholeJson, withRequired } from '../support/pets.ts';
import { atEnd, OPERATOR_KEY } from '../support/process.ts';
import { Latencies } from './client/clients.ts';
import type { Crowd, CrowdResult } from './client/crowd.ts';
import { hasNginx, startNginx } from './nginx.ts';
import { RUDE } from './options.ts';
import { FaultsServer } from './server.ts';
import { printTable } from './table.ts';

const MILLISECONDS = 5000;

/** The connections without a proxy, and the growth of memory that they may cause, in MB. */
const DIRECT = 500;
const MEMORY_LIMIT = 400;

/** The pause of the polite client between two requests, in milliseconds. */
const PAUSE = 20;

/** So long that a response is late only if the client is not served, in milliseconds. */
const TIMEOUT = 10_000;
const P99_LIMIT = 5000;

/** The address of the polite client. The crowd has another one. */
const POLITE = '127.0.0.2';

interface Polite {
  readonly latencies: Latencies;
  readonly failures: string[];
}

test(`${DIRECT} connections that send lists as fast as they can: they get 503 at worst, memory is bounded, and /livez responds`, async () => {
  const server = await FaultsServer.start();
  await server.client.post(withRequired({ name: 'Rex', categoryId: 1 }));
  const before = server.memory() ?? 0;
  const crowd = crowdAt(server.port, DIRECT);
  await crowd.started;
  const probes = new Latencies();
  const failures: string[] = [];
  let peak = before;
  for (const end = performance.now() + MILLISECONDS; performance.now() < end; await sleep(200)) {
    peak = Math.max(peak, server.memory() ?? 0);
    await ask(server.port, { path: '/livez' }).then((ms) => probes.add(ms), addTo(failures));
  }
  const { served, refused, ...other } = await crowd.stop();
  const { p50, max } = probes.summary();
  printTable(`${DIRECT} connections without a proxy`, [
    ['served', 'refused', 'memory MB', 'at its peak', '/livez p50 ms', 'max ms'],
    [served, refused, Math.round(before), Math.round(peak), p50, max],
  ]);
  expect({ ...other, probes: failures }).toEqual({ failures: [], broken: 0, probes: [] });
  expect(served).toBeGreaterThan(DIRECT);
  expect(peak - before).toBeLessThan(MEMORY_LIMIT);
  expect(await server.stop()).toEqual({ code: 0, signal: null });
});

test.skipIf(!hasNginx)(
  `${RUDE} rude connections in front of nginx.conf: a polite client behind it is served${hasNginx ? '' : ' (skipped: nginx is not installed)'}`,
  async () => {
    const server = await FaultsServer.start();
    const nginx = await startNginx({ servers: [server.port] });
    const port = Number(new URL(nginx.origin).port);
    const calm = await politeFor(MILLISECONDS / 2, port);
    const crowd = crowdAt(port, RUDE);
    await crowd.started;
    const crowded = await politeFor(MILLISECONDS, port);
    const { served, refused, failures } = await crowd.stop();
    printTable(`${RUDE} rude connections: ${served} of their requests served, ${refused} refused`, [
      ['a polite client', 'requests', 'p50 ms', 'p99 ms', 'max ms'],
      ...[calm, crowded].map(({ latencies }, index) => {
        const { p50, p99, max } = latencies.summary();
        return [index === 0 ? 'alone' : 'beside them', latencies.count, p50, p99, max];
      }),
    ]);
    expect({ failures, polite: [...calm.failures, ...crowded.failures] }).toEqual({
      failures: [],
      polite: [],
    });
    expect(refused).toBeGreaterThan(RUDE);
    // A quiet machine needs a few milliseconds.
    expect(crowded.latencies.summary().p99).toBeLessThan(P99_LIMIT);
    expect(await server.stop()).toEqual({ code: 0, signal: null });
  },
);

/** A process with many connections. */
function crowdAt(port: number, connections: number) {
  const crowd: Crowd = { port, key: OPERATOR_KEY, connections };
  const child = fork(join(import.meta.dirname, 'client/crowd.ts'), [JSON.stringify(crowd)], { execArgv: [] });
  atEnd(() => child.kill('SIGKILL'));
  const messages: unknown[] = [];
  child.on('message', (message) => messages.push(message));
  const started = until(() => messages.length > 0);
  const stop = async (): Promise<CrowdResult> => {
    child.send('stop');
    await until(() => messages.length > 1);
    return messages[1] as CrowdResult;
  };
  return { started, stop };
}

/** Sends lists and creates, each second one on a new connection. */
async function politeFor(milliseconds: number, port: number): Promise<Polite> {
  const polite: Polite = { latencies: new Latencies(), failures: [] };
  const agent = new Agent({ keepAlive: true });
  const end = performance.now() + milliseconds;
  for (let turn = 0; performance.now() < end; turn += 1) {
    const body = turn % 4 < 2 ? undefined : wholeJson(`{"name":"polite ${turn}","categoryId":1}`);
    const asked: Asked = {
      path: '/v1/pets',
      body,
      agent: turn % 2 === 1 ? false : agent,
      localAddress: POLITE,
    };
    await ask(port, asked).then((ms) => polite.latencies.add(ms), addTo(polite.failures));
    await sleep(PAUSE);
  }
  agent.destroy();
  return polite;
}

interface Asked {
  readonly path: string;
  /** Of a create. */
  readonly body?: string | undefined;
  readonly agent?: Agent | false;
  readonly localAddress?: string;
}

/** Resolves with the time of a request in milliseconds. Rejects if the response is not 200 or 201. */
function ask(port: number, { path, body, agent = false, localAddress }: Asked): Promise<number> {
  const start = performance.now();
  return new Promise((resolve, reject) => {
    const outgoing = request({
      port,
      path,
      agent,
      host: '127.0.0.1',
      ...(localAddress !== undefined && { localAddress }),
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        Authorization: `Bearer ${OPERATOR_KEY}`,
        'Content-Type': 'application/json',
        'Content-Length': Buffer.byteLength(body ?? ''),
      },
      signal: AbortSignal.timeout(TIMEOUT),
    });
    outgoing.once('error', reject).once('response', (incoming) => {
      incoming.resume().once('error', reject);
      incoming.once('end', () => {
        if (incoming.statusCode === (body === undefined ? 200 : 201)) resolve(performance.now() - start);
        else reject(new Error(`${path}: ${incoming.statusCode}`));
      });
    });
    outgoing.end(body);
  });
}

function addTo(failures: string[]): (error: unknown) => void {
  return (error) => void failures.push(String(error));
}
