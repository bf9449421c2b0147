/** Runs Prometheus with the alerts of `docs/alerts.yml`. Its programs are in Debian's package `prometheus`. */

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { stop } from '../faults/nginx.ts';
import { freePort } from '../support/free-port.ts';
import { temporaryFolder } from '../support/process.ts';

export const ROOT: string = resolve(import.meta.dirname, '../..');
export const ALERTS: string = join(ROOT, 'docs/alerts.yml');

export const hasPrometheus: boolean = ['promtool', 'prometheus'].every(
  (name) => spawnSync(name, ['--version']).status === 0,
);

interface Series {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [time: number, value: string];
}

export class Prometheus {
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
    while (!(await isReady(origin))) {
      if (child.exitCode !== null) throw new Error(`prometheus ended with ${child.exitCode}`);
      await sleep(100);
    }
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

async function isReady(origin: string): Promise<boolean> {
  return await fetch(`${origin}/-/ready`).then(
    ({ ok }) => ok,
    () => false,
  );
}
