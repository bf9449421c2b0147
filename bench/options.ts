/** Parses the command line of the benchmark. */

import { parseArgs } from 'node:util';
import { missing, OURS, SERVER_NAMES, type ServerName } from './servers.ts';
import { WORKS, type Work } from './works.ts';

const PARTS = ['compare', 'fsync', 'start', 'memory', 'log', 'idempotency', 'changes', 'postgres'] as const;
export type Part = (typeof PARTS)[number];

export interface Options {
  readonly quick: boolean;
  /** Whether PostgreSQL has little memory and a slow disk. */
  readonly cold: boolean;
  /** Whether the run is complete, without an option that restricts it. Only the figures of a complete run are written to a file. */
  readonly isWhole: boolean;
  readonly works: readonly Work[];
  readonly parts: readonly Part[];
  readonly servers: readonly ServerName[];
  readonly rounds: number;
  readonly seconds: number;
  readonly warmup: number;
  readonly connections: number;
  readonly pets: number;
}

const HELP = `Usage: npm run bench -- [options]

  --quick             run everything once and very briefly, to see that it works
  --cold              only gets with little memory and a slow disk (with --only postgres)
  --only A,B          only these works (${WORKS.join(', ')})
                      or parts (${PARTS.join(', ')})
  --servers A,B       only these servers (${SERVER_NAMES.join(', ')})
  --rounds N          number of rounds; the result is their median
  --seconds N         length of one measurement
  --pets N            number of pets in the file
  --help              print this text

A complete run is written to bench/results/ and docs/benchmark.svg.`;

/**
 * Parses the options. `--only` with kinds of work selects the part `compare`, and `--only` with parts selects every kind of work.
 */
export function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: 'boolean', default: false },
      cold: { type: 'boolean', default: false },
      only: { type: 'string' },
      servers: { type: 'string' },
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      pets: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(HELP);
    process.exit(0);
  }
  const { quick, cold } = values;
  const only = choose(values.only, [...WORKS, ...PARTS]);
  const works = WORKS.filter((work) => only?.includes(work));
  const parts = PARTS.filter((part) => only?.includes(part));
  const servers = choose(values.servers, SERVER_NAMES) ?? SERVER_NAMES;
  for (const reason of servers.map(missing)) if (reason !== undefined) throw new Error(reason);
  const isWhole = ![quick, cold, values.only, values.servers, values.pets].some(Boolean);
  const seconds = positive('seconds', values.seconds, quick ? 0.4 : 5);
  return {
    quick,
    cold,
    isWhole,
    works: works.length > 0 ? works : WORKS,
    parts: parts.length > 0 ? parts : works.length > 0 ? ['compare'] : possibleParts(servers),
    servers,
    rounds: positive('rounds', values.rounds, quick ? 1 : 3),
    seconds,
    warmup: quick ? 0 : Math.min(2, seconds),
    connections: 64,
    pets: positive('pets', values.pets, quick ? 2_000 : 1_000_000),
  };
}

/** Returns the parts that measure at least one of the servers. Some parts measure only animal-store. */
function possibleParts(servers: readonly ServerName[]): readonly Part[] {
  return servers.includes(OURS) ? PARTS : PARTS.filter((part) => /^(compare|fsync|postgres)$/.test(part));
}

function choose<T extends string>(given: string | undefined, allowed: readonly T[]): T[] | undefined {
  return given?.split(',').map((text) => {
    const found = allowed.find((name) => name === text);
    if (found === undefined) throw new Error(`expected one of ${allowed.join(', ')}, got '${text}'`);
    return found;
  });
}

function positive(name: string, given: string | undefined, otherwise: number): number {
  const value = given === undefined ? otherwise : Number(given);
  if (!(value > 0)) throw new Error(`--${name}: expected a number above 0, got '${given}'`);
  return value;
}
