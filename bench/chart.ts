/** Draws the comparison as an SVG for the README: `node bench/chart.ts bench/results/<date>.json`. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Results, readResults } from './results.ts';
import type { Row } from './rounds.ts';
import { OURS, type ServerName, titleOf } from './servers.ts';
import { whole } from './table.ts';
import { WORK_TITLES, WORKS } from './works.ts';

const CHART = join(import.meta.dirname, '../docs/benchmark.svg');

const WIDTH = 760;
const LABEL_WIDTH = 160;
const VALUE_WIDTH = 70;
const BAR_HEIGHT = 18;
const LINE_HEIGHT = 24;
const TITLE_HEIGHT = 34;
const GROUP_GAP = 14;
const FOOT_HEIGHT = 44;

const STYLE = `
    text { font: 13px system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif; fill: #1f2328; }
    .title { font-weight: 600; font-size: 14px; }
    .note { font-size: 11px; fill: #59636e; }
    .ours-text { font-weight: 600; }
    .bar { fill: #afb8c1; }
    .ours { fill: #0969da; }
    @media (prefers-color-scheme: dark) {
      text { fill: #f0f6fc; }
      .note { fill: #9198a1; }
      .bar { fill: #545d68; }
      .ours { fill: #4493f8; }
    }`;

/**
 * Writes the chart of a run, and returns the path of the chart. Returns `undefined` if the run has no part `compare`.
 */
export function writeChart(results: Results): string | undefined {
  const { compare } = results.found;
  if (compare === undefined) return undefined;
  writeFileSync(CHART, chart(compare, footOf(results)));
  return CHART;
}

function chart(rows: readonly Row[], foot: readonly string[]): string {
  const parts: string[] = [];
  let top = 0;
  for (const work of WORKS) {
    const group = rows.filter((row) => row.work === work);
    if (group.length === 0) continue;
    parts.push(text(0, top + 20, WORK_TITLES[work], 'title'));
    const most = Math.max(...group.map((row) => row.perSecond));
    group.forEach((row, index) => {
      parts.push(...bar(row, top + TITLE_HEIGHT + index * LINE_HEIGHT, row.perSecond / most));
    });
    top += TITLE_HEIGHT + group.length * LINE_HEIGHT + GROUP_GAP;
  }
  foot.forEach((line, index) => {
    parts.push(text(0, top + 12 + index * 16, line, 'note'));
  });
  const height = top + FOOT_HEIGHT;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="Requests per second of each server at each kind of work">
  <style>${STYLE}
  </style>
  ${parts.join('\n  ')}
</svg>
`;
}

function bar({ label, perSecond }: Row, top: number, share: number): string[] {
  const isOurs = label === OURS;
  const length = Math.max(1, Math.round(share * (WIDTH - LABEL_WIDTH - VALUE_WIDTH)));
  const base = top + 14;
  return [
    text(0, base, titleOf(label as ServerName), isOurs ? 'ours-text' : ''),
    `<rect class="${isOurs ? 'bar ours' : 'bar'}" x="${LABEL_WIDTH}" y="${top}" width="${length}" height="${BAR_HEIGHT}" rx="2"/>`,
    text(LABEL_WIDTH + length + 8, base, whole(perSecond), isOurs ? 'ours-text' : ''),
  ];
}

function text(x: number, y: number, content: string, className: string): string {
  const escaped = content.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return `<text x="${x}" y="${y}"${className && ` class="${className}"`}>${escaped}</text>`;
}

function footOf({ date, machine, options }: Results): string[] {
  const { cpu, node, generator, isPinned, fsync } = machine;
  return [
    `Requests per second, ${options.connections} connections (${generator}), ${whole(options.pets)} pets; median of ${options.rounds} rounds, ${date}.`,
    `${cpu}, Node.js ${node}, ${isPinned ? 'server on one core, load on another' : 'not pinned to cores'}; SQLite with synchronous=FULL, one fsync ${fsync} ms.`,
  ];
}

if (import.meta.main) {
  const [path] = process.argv.slice(2);
  if (path === undefined) throw new Error('usage: node bench/chart.ts FILE');
  console.log(writeChart(readResults(path)) ?? 'the file has no comparison');
}
