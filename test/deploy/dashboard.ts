/** Reads the dashboard of `docs/grafana-dashboard.json`, as Grafana would with the variables of a test. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './prometheus.ts';

export interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly w: number };
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
  readonly fieldConfig?: { readonly defaults: { readonly unit?: string } };
}

/** The panels in their order, with expressions for the job and the instances of a test. */
export function dashboardPanels(): readonly Panel[] {
  const text = readFileSync(join(ROOT, 'docs/grafana-dashboard.json'), 'utf8')
    .replaceAll('$job', 'animal-store')
    .replaceAll('$instance', '.*')
    .replaceAll('$__rate_interval', '10s');
  return (JSON.parse(text) as { panels: readonly Panel[] }).panels;
}
