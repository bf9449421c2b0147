/** Measures all cases once in each round, so that other load on the machine affects all cases equally. */

import type { Options } from './options.ts';
import { type Figures, Session, type SessionOptions } from './session.ts';
import type { Work } from './works.ts';

/** If the load generator uses more than this share of its core, it limits the result. */
const SATURATED = 0.95;

export interface Case {
  readonly label: string;
  readonly session: SessionOptions;
}

/** The medians of all rounds. `min` is the minimum of all rounds. */
export interface Row extends Figures {
  readonly work: Work;
  readonly label: string;
  /** The number of requests per second in each round. */
  readonly rounds: readonly number[];
  readonly generatorIsLimit: boolean;
}

/**
 * The number of creates before the first measurement of a process, because creates change how V8 compiles the code and allocates
 * memory.
 */
const FIRST_CREATES = 9000;
const FIRST_SECONDS = 10;

/** Starts one process per case and round. The process does every kind of work: creates first, and the mix last. */
export async function measureInTurn(cases: readonly Case[], options: Options): Promise<Row[]> {
  const { works, rounds, quick } = options;
  const found = new Map<string, Figures[]>();
  const ordered = works.toSorted((a, b) => placeOf(a) - placeOf(b));
  for (let round = 0; round < rounds; round++) {
    for (const { label, session } of round % 2 === 0 ? cases : cases.toReversed()) {
      await Session.run(session, async (running) => {
        await createFirst(running, quick ? 1 : FIRST_CREATES, options);
        for (const work of ordered) {
          const figures = await measure(running, work, options);
          progress(`${work}, ${label}: ${Math.round(figures.perSecond)}/s`);
          const key = `${work} ${label}`;
          found.set(key, [...(found.get(key) ?? []), figures]);
        }
      });
    }
  }
  return works.flatMap((work) =>
    cases.map(({ label }) => rowOf(work, label, found.get(`${work} ${label}`) ?? [])),
  );
}

function placeOf(work: Work): number {
  return work === 'create' ? 0 : work === 'mix' ? 2 : 1;
}

/** Creates at least `count` pets, or as many as the server stores in {@link FIRST_SECONDS} seconds. */
async function createFirst(session: Session, count: number, { connections }: Options): Promise<void> {
  let created = 0;
  for (let second = 0; second < FIRST_SECONDS && created < count; second++) {
    created += (await session.load('create', { seconds: 1, connections })).perSecond;
  }
}

async function measure(session: Session, work: Work, { seconds, warmup, connections }: Options) {
  if (warmup > 0) await session.load(work, { seconds: warmup, connections });
  return session.load(work, { seconds, connections });
}

function rowOf(work: Work, label: string, measured: readonly Figures[]): Row {
  const of = (read: (figures: Figures) => number | undefined) =>
    median(measured.map(read).filter((value) => value !== undefined));
  const middle = (name: keyof Figures) => of((figures) => figures[name]) ?? 0;
  const loadShare = of((figures) => figures.loadShare);
  return {
    work,
    label,
    perSecond: middle('perSecond'),
    min: Math.min(...measured.map((figures) => figures.min)),
    p50: middle('p50'),
    p90: middle('p90'),
    p99: middle('p99'),
    longest: middle('longest'),
    loadShare,
    serverShare: of((figures) => figures.serverShare),
    rounds: measured.map((figures) => figures.perSecond),
    generatorIsLimit: (loadShare ?? 0) > SATURATED,
  };
}

/** Returns the median, or `undefined` if there are no values. */
export function median(values: readonly number[]): number | undefined {
  const sorted = values.toSorted((a, b) => a - b);
  const [low, high] = [sorted[Math.ceil(sorted.length / 2) - 1], sorted[Math.floor(sorted.length / 2)]];
  return low === undefined || high === undefined ? undefined : (low + high) / 2;
}

/**
 * Returns the throughput of `row` divided by the throughput of the case `label` at the same work. Divides round by round and
 * returns the median, because other load on the machine changes more between rounds than within a round.
 */
export function ratioTo(label: string, row: Row, rows: readonly Row[]): number | undefined {
  const other = rows.find((candidate) => candidate.work === row.work && candidate.label === label);
  return median(
    row.rounds
      .map((perSecond, round) => perSecond / (other?.rounds[round] ?? Number.NaN))
      .filter(Number.isFinite),
  );
}

/** Reports progress on standard error, because standard output is for the tables. */
export function progress(text: string): void {
  console.error(`  ${text}`);
}
