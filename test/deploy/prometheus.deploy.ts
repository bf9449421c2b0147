/**
 * The metrics, the alerts and the dashboard, with a real Prometheus that scrapes a real server under load. The programs
 * `promtool` and `prometheus` are in Debian's package `prometheus`.
 */

import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { keysOf } from '../faults/keys.ts';
import { FaultsServer, newFolder } from '../faults/server.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const ALERTS = join(ROOT, 'docs/alerts.yml');
const KEY = keysOf(15).operator;

const hasPrometheus = ['promtool', 'prometheus'].every((name) => spawnSync(name, ['--version']).status === 0);
const NOTE = hasPrometheus ? '' : " (skipped: Debian's package prometheus is not installed)";

interface Series {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [time: number, value: string];
}

interface Rule {
  readonly name: string;
  readonly query: string;
}

/** The expressions of the dashboard, for the job and the instance of the test. */
function dashboardExpressions(): string[] {
  const { panels } = JSON.parse(readFileSync(join(ROOT, 'docs/grafana-dashboard.json'), 'utf8')) as {
    panels: readonly { readonly targets?: readonly { readonly expr: string }[] }[];
  };
  return panels.flatMap(({ targets = [] }) =>
    targets.map(({ expr }) =>
      expr
        .replaceAll('$job', 'animal-store')
        .replaceAll('$instance', '.*')
        .replaceAll('$__rate_interval', '10s'),
    ),
  );
}

describe.skipIf(!hasPrometheus && !process.env['CI'])(`Prometheus${NOTE}`, () => {
  let server: FaultsServer;
  let prometheus: ChildProcess;
  let origin = '';
  let isLoading = true;
  let load: Promise<unknown> = Promise.resolve();

  async function api<T>(path: string): Promise<T> {
    const response = await fetch(`${origin}/api/v1/${path}`);
    const { status, data, error } = (await response.json()) as { status: string; data: T; error?: string };
    expect(status, error).toBe('success');
    return data;
  }

  const query = async (expression: string) =>
    (await api<{ result: readonly Series[] }>(`query?query=${encodeURIComponent(expression)}`)).result;

  beforeAll(async () => {
    server = await FaultsServer.start({
      keys: [KEY],
      log: 'file',
      logLevel: 'error',
      env: { RATE_LIMIT: '2000/s' },
    });
    const folder = newFolder();
    const [port, closedPort] = [await freePort(), await freePort()];
    writeFileSync(join(folder, 'key'), KEY, { mode: 0o600 });
    writeFileSync(
      join(folder, 'prometheus.yml'),
      `global: { scrape_interval: 1s, evaluation_interval: 1s }
rule_files: ['${ALERTS}']
scrape_configs:
  - job_name: animal-store
    authorization: { credentials_file: key }
    static_configs: [{ targets: ['127.0.0.1:${server.port}', '127.0.0.1:${closedPort}'] }]
`,
    );
    const args = [
      `--config.file=${folder}/prometheus.yml`,
      `--storage.tsdb.path=${folder}/data`,
      `--web.listen-address=127.0.0.1:${port}`,
    ];
    prometheus = spawn('prometheus', args, { stdio: 'ignore' });
    origin = `http://127.0.0.1:${port}`;
    while (!(await isReady(origin))) await sleep(100);
    load = Promise.all(Array.from({ length: 4 }, () => keepBusy(`http://127.0.0.1:${server.port}`)));
    await sleep(15_000);
  });

  afterAll(async () => {
    isLoading = false;
    await load;
    if (prometheus.exitCode === null) {
      prometheus.kill('SIGTERM');
      await once(prometheus, 'exit');
    }
    await server.stop();
  });

  async function keepBusy(url: string): Promise<void> {
    const headers = { Authorization: `Bearer ${KEY}`, 'Content-Type': 'application/json' };
    for (let turn = 0; isLoading; turn++) {
      const isCreate = turn % 10 === 0;
      const key = turn % 20 === 0 ? { 'Idempotency-Key': `key-${turn % 100}` } : {};
      const body = JSON.stringify({ name: `pet ${turn % 100}`, categoryId: 1 });
      const request = isCreate ? { method: 'POST', headers: { ...headers, ...key }, body } : { headers };
      await (await fetch(`${url}/v1/pets`, request)).arrayBuffer();
      if (turn % 50 === 0) await fetch(`${url}/v1/pets/999999999`, { headers });
    }
  }

  test('promtool accepts the metrics', async () => {
    const headers = { Authorization: `Bearer ${KEY}` };
    const metrics = await (await fetch(`http://127.0.0.1:${server.port}/metrics`, { headers })).text();
    const { status, stderr, stdout } = spawnSync('promtool', ['check', 'metrics'], {
      input: metrics,
      encoding: 'utf8',
    });
    expect(`${stderr}${stdout}`).toBe('');
    expect(status).toBe(0);
  });

  test('promtool accepts the alerts, which are silent for a healthy server and fire for a sick one', () => {
    execFileSync('promtool', ['check', 'rules', '--lint-fatal', ALERTS]);
    const tests = join(ROOT, 'test/deploy/alerts.test.yml');
    expect(execFileSync('promtool', ['test', 'rules', tests], { encoding: 'utf8' })).toContain('SUCCESS');
  });

  test('each expression of the dashboard has a value', async () => {
    const expressions = dashboardExpressions();
    expect(expressions.length).toBeGreaterThan(20);
    const empty: string[] = [];
    for (const expression of expressions) {
      const values = (await query(expression)).map(({ value }) => Number(value[1]));
      if (values.length === 0 || values.every(Number.isNaN)) empty.push(expression);
    }
    expect(empty).toEqual([]);
  });

  test('each expression of the alerts has a value, and only the server that does not run is reported', async () => {
    const { groups } = await api<{ groups: readonly { readonly rules: readonly Rule[] }[] }>('rules');
    const rules = groups.flatMap((group) => group.rules);
    expect(rules.length).toBeGreaterThan(5);
    const empty: string[] = [];
    for (const rule of rules) {
      // Without the comparison at its end, an expression has a value in every state.
      const measured = rule.query.replace(/ [<>=]=? [\d.]+$/, '').replaceAll('[5m]', '[10s]');
      expect(measured).not.toBe(rule.query);
      if ((await query(measured)).length === 0) empty.push(rule.name);
    }
    expect(empty).toEqual([]);
    const { alerts } = await api<{ alerts: readonly { readonly labels: Series['metric'] }[] }>('alerts');
    expect(alerts.map(({ labels }) => labels['alertname'])).toEqual(['AnimalStoreDown']);
  });
});

async function isReady(origin: string): Promise<boolean> {
  return await fetch(`${origin}/-/ready`).then(
    ({ ok }) => ok,
    () => false,
  );
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  return port;
}
