/**
 * Draws the panels of the dashboard into docs/images, from a real Prometheus that reads a real server under load, and takes a
 * screenshot of Prometheus. Usage: `npm run pictures`. The load lasts five minutes, and has a peak in the middle.
 */

import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { dashboardPanels, type Panel } from '../test/deploy/dashboard.ts';
import { Prometheus, type Range, ROOT } from '../test/deploy/prometheus.ts';
import { FaultsServer } from '../test/faults/server.ts';
import { cleanUpFile, OPERATOR_KEY, temporaryFolder } from '../test/support/process.ts';
import { type Chart, drawCharts, type Line } from './line-chart.ts';

const IMAGES = join(ROOT, 'docs/images');
const CHROMIUM = process.env['CHROMIUM'] ?? '/usr/bin/chromium';

/** In seconds. */
const DURATION = 300;
const STEP = 4;

/** The number of clients in each fifth of the time. */
const CLIENTS = [2, 4, 12, 4, 2];

const server = await FaultsServer.start({ logLevel: 'error', env: { RATE_LIMIT: '900/s' } });
const prometheus = await Prometheus.start([server.port], OPERATOR_KEY);
try {
  await sleep(5000);
  const start = Date.now() / 1000;
  await Promise.all(Array.from({ length: Math.max(...CLIENTS) }, (_, client) => keepBusy(client, start)));
  await drawRows(start);
  screenshot('sum by (method, route) (rate(animal_store_http_request_duration_seconds_count[10s]))');
} finally {
  await prometheus.stop();
  await server.stop();
  await cleanUpFile();
}

/** Sends requests with pauses: one tenth are creates, some of them with a key that was used before. */
async function keepBusy(client: number, start: number): Promise<void> {
  const headers = { Authorization: `Bearer ${OPERATOR_KEY}`, 'Content-Type': 'application/json' };
  const url = `${server.origin}/v1/pets`;
  for (let turn = 0; ; turn++) {
    const elapsed = Date.now() / 1000 - start;
    if (elapsed >= DURATION) return;
    if (client >= (CLIENTS[Math.floor((elapsed / DURATION) * CLIENTS.length)] ?? 0)) {
      await sleep(100);
      continue;
    }
    if (turn % 10 === 0) {
      const idempotency = turn % 20 === 0 ? { 'Idempotency-Key': `key-${client}-${turn % 400}` } : {};
      const body = JSON.stringify({ name: `pet ${turn % 20 === 0 ? turn % 400 : turn}`, categoryId: 1 });
      await drain(fetch(url, { method: 'POST', headers: { ...headers, ...idempotency }, body }));
    } else if (turn % 3 === 0) {
      await drain(fetch(`${url}/${1 + (turn % 50)}`, { headers }));
    } else {
      await drain(fetch(`${url}?after=${turn % 7}&limit=20`, { headers }));
    }
    if (turn % 100 === 0) await drain(fetch(url, { headers: { Authorization: 'Bearer unknown' } }));
    await sleep(5);
  }
}

async function drain(response: Promise<Response>): Promise<void> {
  await (await response).arrayBuffer();
}

/** Draws one picture for each row of the dashboard. */
async function drawRows(start: number): Promise<void> {
  mkdirSync(IMAGES, { recursive: true });
  const rows: { readonly title: string; readonly charts: Chart[] }[] = [];
  for (const panel of dashboardPanels()) {
    if (panel.type === 'row') rows.push({ title: panel.title, charts: [] });
    else rows.at(-1)?.charts.push(await chartOf(panel, start));
  }
  for (const { title, charts } of rows) {
    const name = `dashboard-${title.toLowerCase().replaceAll(' ', '-')}.svg`;
    writeFileSync(join(IMAGES, name), drawCharts(`${title}: panels of the dashboard`, charts, DURATION));
  }
}

async function chartOf({ title, targets = [], fieldConfig }: Panel, start: number): Promise<Chart> {
  const lines: Line[] = [];
  for (const { expr, legendFormat } of targets) {
    const found = await prometheus.queryRange(expr, start, start + DURATION, STEP);
    lines.push(...found.map((range) => lineOf(range, legendFormat, start)));
  }
  // A line without a name is the 0 of an expression that ends with `or vector(0)`.
  const named = lines.filter(({ name, points }) => name !== '' && points.length > 0);
  const shown = named.length > 0 ? named : lines.map((line) => ({ ...line, name: 'none' }));
  return { title, unit: fieldConfig?.defaults.unit ?? 'none', lines: shown };
}

function lineOf({ metric, values }: Range, legend: string, start: number): Line {
  const name = legend.replaceAll(/\{\{(\w+)\}\}/g, (_, label: string) => metric[label] ?? '').trim();
  const points = values.map(([time, value]) => [time - start, Number(value)] as const);
  return { name, points: points.filter(([, value]) => Number.isFinite(value)) };
}

/** Takes a picture of the page of Prometheus that shows an expression. */
function screenshot(expression: string): void {
  const query = new URLSearchParams({ 'g0.expr': expression, 'g0.tab': '0', 'g0.range_input': '6m' });
  execFileSync(
    CHROMIUM,
    [
      ...['--headless=new', '--no-sandbox', '--disable-gpu', '--hide-scrollbars', '--window-size=1100,900'],
      ...[`--user-data-dir=${temporaryFolder()}`, '--virtual-time-budget=10000'],
      `--screenshot=${join(IMAGES, 'prometheus.png')}`,
      `${prometheus.origin}/graph?${query}`,
    ],
    { stdio: 'ignore', timeout: 60_000 },
  );
}
