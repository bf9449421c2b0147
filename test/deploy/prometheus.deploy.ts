/**
 * The metrics, the alerts and the dashboard, with a real Prometheus that scrapes a real server under load. The programs
 * `promtool` and `prometheus` are in Debian's package `prometheus`.
 */

import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { FaultsServer } from '../faults/server.ts';
import { blocksOf } from '../manuals/manuals.ts';
import { freePort } from '../support/free-port.ts';
import { withRequired } from '../support/pets.ts';
import { OPERATOR_KEY, temporaryFolder } from '../support/process.ts';
import { canMount, SmallDisk } from '../support/small-disk.ts';
import { ALERTS, hasPrometheus, Prometheus, ROOT } from './prometheus.ts';

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

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly w: number };
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
}

/** The panels in their order, with expressions for the job and the instances of a test. */
function dashboardPanels(): readonly Panel[] {
  const text = readFileSync(join(ROOT, 'docs/grafana-dashboard.json'), 'utf8')
    .replaceAll('$job', 'animal-store')
    .replaceAll('$instance', '.*')
    .replaceAll('$__rate_interval', '10s');
  return (JSON.parse(text) as { panels: readonly Panel[] }).panels;
}

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
    server = await FaultsServer.start({ logLevel: 'error', env: { RATE_LIMIT: '2000/s' } });
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
      const body = JSON.stringify({ name: `pet ${turn % 100}`, categoryId: 1 });
      const request = isCreate ? { method: 'POST', headers: { ...headers, ...key }, body } : { headers };
      await (await fetch(`${url}/v1/pets`, request)).arrayBuffer();
      if (turn % 50 === 0) await fetch(`${url}/v1/pets/999999999`, { headers });
    }
  }

  test('promtool accepts the metrics', async () => {
    const headers = { Authorization: `Bearer ${OPERATOR_KEY}` };
    const metrics = await (await fetch(`${server.origin}/metrics`, { headers })).text();
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
    // As a second pair of keys at the end, the lines would be refused.
    writeFileSync(config, DEBIAN_CONFIG + lines);
    expect(spawnSync('promtool', ['check', 'config', config]).status).not.toBe(0);
  });

  test('each panel of the dashboard has a title, a type, a place, and expressions with a legend', () => {
    const panels = dashboardPanels();
    const ids = panels.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { type, title, targets = [], gridPos } of panels) {
      expect(['row', 'timeseries', 'stat'], title).toContain(type);
      expect(title).not.toBe('');
      expect(gridPos.x + gridPos.w, title).toBeLessThanOrEqual(24);
      if (type !== 'row') expect(targets, title).not.toHaveLength(0);
      for (const { legendFormat } of targets) expect(legendFormat, title).not.toBe('');
    }
  });

  test('each expression of the dashboard has a value', async () => {
    const expressions = dashboardPanels().flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
    expect(expressions.length).toBeGreaterThan(20);
    const empty: string[] = [];
    for (const expression of expressions) {
      const values = (await prometheus.query(expression)).map(({ value }) => Number(value[1]));
      if (values.length === 0 || values.every(Number.isNaN)) empty.push(expression);
    }
    expect(empty).toEqual([]);
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
    const empty: string[] = [];
    for (const rule of rules) {
      // Without the comparison at its end, an expression has a value in every state.
      const measured = rule.query.replace(/ [<>=]=? [\d.* ]+$/, '').replaceAll('[5m]', '[10s]');
      expect(measured).not.toBe(rule.query);
      if ((await prometheus.query(measured)).length === 0) empty.push(rule.name);
    }
    expect(empty).toEqual([]);
    await expect.poll(() => prometheus.alerts(), { timeout: 30_000 }).toEqual(['AnimalStoreDown']);
  });
});

const DISK_NOTE = canMount ? NOTE : ' (skipped: this user cannot mount a file system)';

test.skipIf(!canMount || (!hasPrometheus && !process.env['CI']))(
  `an alert fires when the disk is full${DISK_NOTE}`,
  async () => {
    const disk = new SmallDisk('1m');
    const server = await FaultsServer.start({
      logLevel: 'error',
      env: { DATABASE_URL: `sqlite:${disk.folder}/pets.db` },
    });
    onTestFinished(async () => {
      await server.stop();
    });
    const prometheus = await Prometheus.start([server.port], OPERATOR_KEY);
    onTestFinished(() => prometheus.stop());
    await expect.poll(() => prometheus.query('up == 1'), { timeout: 30_000 }).toHaveLength(1);
    await expect.poll(() => prometheus.alerts(), { timeout: 30_000 }).toEqual([]);

    const headers = { Authorization: `Bearer ${OPERATOR_KEY}`, 'Content-Type': 'application/json' };
    const body = JSON.stringify(withRequired({ name: 'Rex', categoryId: 1 }));
    expect(() => writeFileSync(join(disk.folder, 'other'), Buffer.alloc(2 ** 21))).toThrow(/ENOSPC/);
    let status = 201;
    for (let count = 0; status === 201 && count < 1000; count++) {
      ({ status } = await fetch(`${server.origin}/v1/pets`, {
        method: 'POST',
        headers,
        body,
      }));
    }
    expect(status).toBe(503);
    await expect.poll(() => prometheus.alerts(), { timeout: 30_000 }).toContain('AnimalStoreDiskFull');
  },
);
