/** The results of a run, and the file of the results. */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Machine } from './machine.ts';
import type { Options } from './options.ts';
import type { Row } from './rounds.ts';

const FOLDER = join(import.meta.dirname, 'results');

export interface Results {
  readonly date: string;
  readonly machine: Machine;
  readonly options: Pick<Options, 'rounds' | 'seconds' | 'warmup' | 'connections' | 'pets'>;
  /** The result of each part, by the name of the part. The chart shows the result of `compare`. */
  readonly found: { compare?: readonly Row[]; [part: string]: unknown };
}

/** A part of the benchmark. */
export interface Definition<T> {
  readonly title: string;
  measure(options: Options): Promise<T>;
  table(found: T): string;
}

export function newResults(machine: Machine, options: Options): Results {
  const { rounds, seconds, warmup, connections, pets } = options;
  const date = new Date().toISOString().slice(0, 10);
  return { date, machine, options: { rounds, seconds, warmup, connections, pets }, found: {} };
}

export function writeResults(results: Results): string {
  mkdirSync(FOLDER, { recursive: true });
  const path = join(FOLDER, `${results.date}.json`);
  writeFileSync(path, `${JSON.stringify(results, rounded, 2)}\n`);
  return path;
}

export function readResults(path: string): Results {
  return JSON.parse(readFileSync(path, 'utf8')) as Results;
}

function rounded(_key: string, value: unknown): unknown {
  return typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(5)) : value;
}
