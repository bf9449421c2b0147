/**
 * The metrics, the alerts and the dashboard, with a real Prometheus that scrapes a real server under load. The programs
 * `promtool` and `prometheus` are in Debian's package `prometheus`.
 */

import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stop, untilListening } from '../faults/nginx.ts';
import { type FaultsServer, startFaultsServer } from '../faults/server.ts';
import { blocksOf } from '../manuals/manuals.ts';
import { until } from '../support/clock.ts';
import { freePort } from '../support/free-port.ts';
import { numberedJson } from '../support/pets.ts';
import { OPERATOR_KEY, temporaryFolder } from '../support/process.ts';
import { statusOf } from './unit.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const ALERTS = join(ROOT, 'docs/alerts.yml');

const hasPrometheus = ['promtool', 'prometheus'].every((name) => spawnSync(name, ['--version']).status === 0);

interface Series {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [time: number, value: string];
}

class Prometheus {
  readonly #child: ChildProcess;
  readonly origin: string;

  private constructor(child: ChildProcess, origin: string) {
    this.#child = child;
    this.origin = origin;
  }

  /** Starts a Prometheus that reads the metrics of the servers on the given ports every second. */
  static async start(ports: readonly number[], key: string): Promise<Prometheus> {
    const folder = temporaryFolder();
    const port = await freePort();
    writeFileSync(join(folder, 'key'), key, { mode: 0o600 });
    writeFileSync(
      join(folder, 'prometheus.yml'),
      `global: { scrape_interval: 1s, evaluation_interval: 1s }
rule_files: ['${ALERTS}']
scrape_configs:
  - job_name: animal-store
    authorization: { credentials_file: key }
    static_configs: [{ targets: [${ports.map((target) => `'127.0.0.1:${target}'`).join(', ')}] }]
`,
    );
    const args = [
      `--config.file=${folder}/prometheus.yml`,
      `--storage.tsdb.path=${folder}/data`,
      `--web.listen-address=127.0.0.1:${port}`,
    ];
    const child = spawn('prometheus', args, { stdio: 'ignore' });
    const origin = `http://127.0.0.1:${port}`;
    await untilListening(child, port);
    await until(async () => (await statusOf(`${origin}/-/ready`)) === 200, 100);
    return new Prometheus(child, origin);
  }

  async api<T>(path: string): Promise<T> {
    const response = await fetch(`${this.origin}/api/v1/${path}`);
    const { status, data, error } = (await response.json()) as { status: string; data: T; error?: string };
    if (status !== 'success') throw new Error(`Prometheus refused ${path}: ${error}`);
    return data;
  }

  async query(expression: string): Promise<readonly Series[]> {
    const path = `query?query=${encodeURIComponent(expression)}`;
    return (await this.api<{ result: readonly Series[] }>(path)).result;
  }

  /** The names of the alerts that fire, or that will fire if their condition lasts. */
  async alerts(): Promise<(string | undefined)[]> {
    const { alerts } = await this.api<{ alerts: readonly { readonly labels: Series['metric'] }[] }>('alerts');
    return alerts.map(({ labels }) => labels['alertname']);
  }

  stop(): Promise<void> {
    return stop(this.#child);
  }
}

const NOTE = hasPrometheus ? '' : " (skipped: Debian's package prometheus is not installed)";

/** The keys of `/etc/prometheus/prometheus.yml` in Debian's package. */
const DEBIAN_CONFIG = `global:
  scrape_interval: 15s
rule_files:
  # - "first_rules.yml"
scrape_configs:
  - job_name: 'prometheus'
    static_configs:
      - targets: ['localhost:9090']
`;

/** The expressions of the dashboard, for the job and the instances of a test. */
function dashboardExpressions(): string[] {
  const text = readFileSync(join(ROOT, 'docs/grafana-dashboard.json'), 'utf8')
    .replaceAll('$job', 'animal-store')
    .replaceAll('$instance', '.*')
    .replaceAll('$__rate_interval', '10s');
  const { panels } = JSON.parse(text) as { panels: readonly { targets?: readonly { expr: string }[] }[] };
  return panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
}

/** How long to wait for values, in milliseconds. */
const POLL = { interval: 1000, timeout: 60_000 };

interface Rule {
  readonly name: string;
  readonly query: string;
}

describe.skipIf(!hasPrometheus && !process.env['CI'])(`Prometheus${NOTE}`, () => {
  let server: FaultsServer;
  let prometheus: Prometheus;
  let isLoading = true;
  let load: Promise<unknown> = Promise.resolve();

  beforeAll(async () => {
    server = await startFaultsServer({ env: { LOG_LEVEL: 'error', RATE_LIMIT: '2000/s' } });
    prometheus = await Prometheus.start([server.port, await freePort()], OPERATOR_KEY);
    load = Promise.all(Array.from({ length: 4 }, () => keepBusy(server.origin)));
    await sleep(15_000);
  });

  afterAll(async () => {
    isLoading = false;
    await load;
    await prometheus.stop();
    await server.stop();
  });

  async function keepBusy(url: string): Promise<void> {
    const headers = { Authorization: `Bearer ${OPERATOR_KEY}`, 'Content-Type': 'application/json' };
    for (let turn = 0; isLoading; turn++) {
      const isCreate = turn % 10 === 0;
      const key = turn % 20 === 0 ? { 'Idempotency-Key': `key-${turn % 100}` } : {};
      const body = numberedJson(turn % 100);
      const request = isCreate ? { method: 'POST', headers: { ...headers, ...key }, body } : { headers };
      await (await fetch(`${url}/v1/pets`, request)).arrayBuffer();
      if (turn % 50 === 0) await fetch(`${url}/v1/pets/999999999`, { headers });
    }
  }

  test('promtool accepts the metrics', async () => {
    const headers = { Authorization: `Bearer ${OPERATOR_KEY}` };
    const { status, stderr, stdout } = spawnSync('promtool', ['check', 'metrics'], {
      input: await (await fetch(`${server.origin}/metrics`, { headers })).text(),
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

  test('promtool accepts the configuration of Debian with the lines of docs/deploy.md', () => {
    const [lines = ''] = blocksOf('docs/deploy.md').flatMap(({ language, code }) =>
      language === 'yaml' ? [code] : [],
    );
    const added = [...lines.matchAll(/^(\w+:\n)((?: .*\n)+)/gm)];
    expect(added.map(([, key]) => key)).toEqual(['rule_files:\n', 'scrape_configs:\n']);
    const folder = temporaryFolder();
    const keyFile = join(folder, 'key');
    writeFileSync(keyFile, OPERATOR_KEY);
    copyFileSync(ALERTS, join(folder, 'animal-store.yml'));
    const debian = DEBIAN_CONFIG.replaceAll(
      /^\w+:\n/gm,
      (key) => key + (added.find(([, own]) => own === key)?.[2] ?? ''),
    );
    const config = join(folder, 'prometheus.yml');
    writeFileSync(config, debian.replace(/(?<=credentials_file: ).*/, keyFile));
    expect(execFileSync('promtool', ['check', 'config', config], { encoding: 'utf8' })).toContain('SUCCESS');
    // Appended at the end, the lines would repeat keys of the file, which Prometheus refuses.
    writeFileSync(config, DEBIAN_CONFIG + lines);
    expect(spawnSync('promtool', ['check', 'config', config]).status).not.toBe(0);
  });

  test('each expression of the dashboard has a value', async () => {
    const expressions = dashboardExpressions();
    expect(expressions.length).toBeGreaterThan(20);
    const emptyOnes = async () => {
      const empty: string[] = [];
      for (const expression of expressions) {
        const values = (await prometheus.query(expression)).map(({ value }) => Number(value[1]));
        if (values.length === 0 || values.every(Number.isNaN)) empty.push(expression);
      }
      return empty;
    };
    // The load stops while `promtool` runs, and a rate is of the last ten seconds.
    await expect.poll(emptyOnes, POLL).toEqual([]);
  });

  test('each expression of the alerts has a value, and only the server that does not run is reported', async () => {
    const { groups } = await prometheus.api<{ groups: readonly { readonly rules: readonly Rule[] }[] }>(
      'rules',
    );
    // The metrics of systemd are those of another program.
    const rules = groups
      .flatMap((group) => group.rules)
      .filter(({ query }) => !query.includes('node_systemd_'));
    expect(rules.length).toBeGreaterThan(5);
    const emptyOnes = async () => {
      const empty: string[] = [];
      for (const { name, query } of rules) {
        // Without the comparison at its end, an expression has a value in every state.
        const measured = query.replace(/ [<>=]=? [\d.* ]+$/, '').replaceAll('[5m]', '[10s]');
        expect(measured).not.toBe(query);
        if ((await prometheus.query(measured)).length === 0) empty.push(name);
      }
      return empty;
    };
    await expect.poll(emptyOnes, POLL).toEqual([]);
    await expect.poll(() => prometheus.alerts()).toEqual(['AnimalStoreDown']);
  });
});
