/** Draws the comparison as an SVG for the README: `node bench/chart.ts bench/results/<date>.json`. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Results, readResults } from './results.ts';
import type { Row } from './rounds.ts';
import { LIMIT, OURS, SERVER_NAMES, type ServerName, titleOf } from './servers.ts';
import { whole } from './table.ts';
import { WORK_TITLES, WORKS, type Work } from './works.ts';

const CHART = join(import.meta.dirname, '../docs/benchmark.svg');

const WIDTH = 760;
const LABEL_WIDTH = 130;
const VALUE_WIDTH = 70;
const HEAD_HEIGHT = 66;
const BAR_HEIGHT = 15;
const LINE_HEIGHT = 19;
const TITLE_HEIGHT = 26;
const GROUP_GAP = 12;
const LINE_OF_FOOT = 16;

const TITLE = 'Requests per second – more is better';
const LIMIT_NOTE = 'The line is the limit of Node.js on this machine: node:http with a constant response.';

/** Notes that a reader needs to compare the bars of one kind of work. */
const NOTES: Readonly<Partial<Record<Work, string>>> = {
  list: 'the first page, the same for all clients',
  'list-random': '1 to 100 pets, of a random status or of all',
  get: 'one of all stored pets',
  create: 'on the disk before the response: animal-store shares a commit, Fastify commits each create',
  mix: 'the list of 20, and durable creates',
};

const STYLE = `
    text { font: 13px system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif; fill: #1f2328; }
    .head { font-weight: 600; font-size: 17px; }
    .title { font-weight: 600; font-size: 14px; }
    .note { font-size: 11px; font-weight: 400; fill: #59636e; }
    .ours-text { font-weight: 600; }
    .bar { fill: #afb8c1; }
    .ours { fill: #0969da; }
    .limit { stroke: #cf222e; stroke-width: 2; stroke-dasharray: 4 3; }
    @media (prefers-color-scheme: dark) {
      text { fill: #f0f6fc; }
      .note { fill: #9198a1; }
      .bar { fill: #545d68; }
      .ours { fill: #4493f8; }
      .limit { stroke: #f85149; }
    }`;

/** Writes the chart of a run, and returns the path of the chart. Returns `undefined` if the run has no part `compare`. */
export function writeChart(results: Results): string | undefined {
  const { compare } = results.found;
  if (compare === undefined) return undefined;
  writeFileSync(CHART, chart(compare, footOf(results)));
  return CHART;
}

function chart(rows: readonly Row[], foot: readonly string[]): string {
  const parts = [text(0, 18, TITLE, 'head'), text(0, 38, LIMIT_NOTE, 'note')];
  let top = HEAD_HEIGHT - GROUP_GAP;
  for (const work of WORKS) {
    const group = rows.filter((row) => row.work === work && SERVER_NAMES.some((name) => name === row.label));
    if (group.length === 0) continue;
    parts.push(titleOfGroup(work, top + 16));
    const most = Math.max(...group.map((row) => row.perSecond));
    const bars = group.filter(({ label }) => label !== LIMIT).sort(oursFirst);
    bars.forEach((row, index) => {
      parts.push(...bar(row, top + TITLE_HEIGHT + index * LINE_HEIGHT, row.perSecond / most));
    });
    const end = top + TITLE_HEIGHT + bars.length * LINE_HEIGHT;
    for (const { label, perSecond } of group) {
      if (label === LIMIT) parts.push(...limit(perSecond, top + TITLE_HEIGHT, end, perSecond / most));
    }
    top = end + GROUP_GAP;
  }
  foot.forEach((line, index) => {
    parts.push(text(0, top + LINE_OF_FOOT * (index + 1), line, 'note'));
  });
  const height = top + LINE_OF_FOOT * (foot.length + 1);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="${TITLE}: each server at each kind of work">
  <style>${STYLE}
  </style>
  ${parts.join('\n  ')}
</svg>
`;
}

/** Moves the bar of animal-store to the front. The others keep their order. */
function oursFirst(one: Row, other: Row): number {
  return Number(other.label === OURS) - Number(one.label === OURS);
}

function titleOfGroup(work: Work, base: number): string {
  const note =
    NOTES[work] === undefined ? '' : `<tspan class="note" dx="8">${escapeText(NOTES[work])}</tspan>`;
  return `<text x="0" y="${base}" class="title">${escapeText(WORK_TITLES[work])}${note}</text>`;
}

function bar({ label, perSecond }: Row, top: number, share: number): string[] {
  const isOurs = label === OURS;
  const length = Math.max(1, lengthOf(share));
  const base = top + 12;
  return [
    text(0, base, titleOf(label as ServerName), isOurs ? 'ours-text' : ''),
    `<rect class="${isOurs ? 'bar ours' : 'bar'}" x="${LABEL_WIDTH}" y="${top}" width="${length}" height="${BAR_HEIGHT}" rx="2"/>`,
    text(LABEL_WIDTH + length + 8, base, whole(perSecond), isOurs ? 'ours-text' : ''),
  ];
}

function limit(perSecond: number, top: number, end: number, share: number): string[] {
  const x = LABEL_WIDTH + lengthOf(share);
  return [
    `<line class="limit" x1="${x}" y1="${top - 2}" x2="${x}" y2="${end - 2}"/>`,
    text(x + 8, top + 12, whole(perSecond), 'note'),
  ];
}

function lengthOf(share: number): number {
  return Math.round(share * (WIDTH - LABEL_WIDTH - VALUE_WIDTH));
}

function text(x: number, y: number, content: string, className: string): string {
  return `<text x="${x}" y="${y}"${className && ` class="${className}"`}>${escapeText(content)}</text>`;
}

function escapeText(content: string): string {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

function footOf({ date, machine, options }: Results): string[] {
  const { cpu, node, generator, isPinned, fsync } = machine;
  return [
    `${options.connections} connections (${generator}), ${whole(options.pets)} pets, SQLite with synchronous=FULL; median of ${options.rounds} rounds, ${date}.`,
    `${cpu}, Node.js ${node}, ${isPinned ? 'server on one core, load on another' : 'not pinned to cores'}; one fsync takes ${fsync} ms.`,
  ];
}

if (import.meta.main) {
  const [path] = process.argv.slice(2);
  if (path === undefined) throw new Error('usage: node bench/chart.ts FILE');
  console.log(writeChart(readResults(path)) ?? 'the file has no comparison');
}
