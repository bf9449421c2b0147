/** Measures reads during creates with slower fsyncs. Requires Linux and a C compiler. */

import { API_KEY, filledFile } from '../data.ts';
import { type Reported, runStreams } from '../load/streams.ts';
import type { Options } from '../options.ts';
import type { Definition } from '../results.ts';
import { progress } from '../rounds.ts';
import { OURS, type ServerName, titleOf } from '../servers.ts';
import { Session } from '../session.ts';
import { canSlowDisk, slowFsync } from '../slow-disk.ts';
import { milliseconds, table, whole } from '../table.ts';

/** The number of milliseconds added to each fsync. */
const DELAYS = [0, 200];

const READS_PER_SECOND = 1000;
const CREATORS = 16;

/** The minimum duration of a measurement, as a number of slow fsyncs. */
const MIN_FSYNCS = 4;
const SERVERS: readonly ServerName[] = ['fastify', OURS];

interface Run {
  readonly server: ServerName;
  readonly delay: number;
  readonly reads: Reported;
  readonly creates: Reported;
}

export interface SlowFsync {
  /** The reason why nothing was measured, or `undefined` after a measurement. */
  readonly skipped?: string;
  readonly reads: readonly Run[];
}

async function measure(options: Options): Promise<SlowFsync> {
  if (!canSlowDisk()) return { skipped: 'needs Linux and a C compiler (cc)', reads: [] };
  const reads: Run[] = [];
  for (const delay of DELAYS) {
    for (const server of SERVERS.filter((name) => options.servers.includes(name))) {
      const runs: Run[] = [];
      for (let round = 0; round < options.rounds; round++) runs.push(await run(server, delay, options));
      const middle = runs.sort((a, b) => a.reads.p99 - b.reads.p99)[Math.floor(runs.length / 2)] as Run;
      progress(`fsync +${delay} ms, ${server}: reads ${milliseconds(middle.reads.p99)} ms p99`);
      reads.push(middle);
    }
  }
  return { reads };
}

async function run(server: ServerName, delay: number, options: Options): Promise<Run> {
  const { pets, connections, warmup } = options;
  const environment = slowFsync(delay);
  return Session.run({ name: server, source: filledFile(pets), pets, environment }, async (session) => {
    // Under full load, Node.js compiles the code now. Otherwise, it would do so during the measurement, and delay responses.
    for (const work of warmup === 0 ? [] : (['list', 'get', 'create'] as const)) {
      await session.load(work, { seconds: warmup, connections });
    }
    const streams = [
      { works: ['list', 'get'], rate: READS_PER_SECOND, connections },
      { works: ['create'], rate: 0, connections: CREATORS },
    ] as const;
    const seconds = Math.max(options.seconds, (MIN_FSYNCS * delay) / 1000);
    const load = { origin: session.server.origin, key: API_KEY, pets, seconds, streams };
    const [reads, creates] = (await runStreams(load)).results as [Reported, Reported];
    const failed = [reads, creates].reduce((sum, { refused, broken }) => sum + refused + broken, 0);
    if (failed > 0) throw new Error(`${server}: ${failed} requests were refused or failed`);
    if (creates.min < delay) throw new Error(`${server}: a create was acknowledged before its fsync`);
    session.noteCreates(creates.requests, creates.createsSent);
    return { server, delay, reads, creates };
  });
}

function slowFsyncTable({ skipped, reads: runs }: SlowFsync): string {
  if (skipped !== undefined) return `Skipped: ${skipped}.`;
  const figures = ({ requests, seconds, p50, p99 }: Reported) => [
    whole(requests / seconds),
    milliseconds(p50),
    milliseconds(p99),
  ];
  return table(
    'fsync,server,reads/s,p50 ms,p99 ms,creates/s,p50 ms,p99 ms'.split(','),
    runs.map(({ server, delay, reads, creates }) => [
      `+${delay} ms`,
      titleOf(server),
      ...figures(reads),
      ...figures(creates),
    ]),
  );
}

export const FSYNC: Definition<SlowFsync> = {
  title: 'Reads during creates, with slower fsyncs',
  measure,
  table: slowFsyncTable,
};
