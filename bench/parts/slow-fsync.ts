/** Measures reads during creates, and creates alone, with slower fsyncs. Requires Linux and a C compiler. */

import { API_KEY, filledFile } from '../data.ts';
import { runSteady, type StreamResult } from '../load/open.ts';
import type { Options } from '../options.ts';
import { measureInTurn, progress, type Row } from '../rounds.ts';
import { OURS, OURS_ON_BUN, type ServerName, titleOf } from '../servers.ts';
import { Session, type SessionOptions } from '../session.ts';
import { canSlowDisk, slowFsync } from '../slow-disk.ts';
import { milliseconds, rowsTable, table, whole } from '../table.ts';

/** `reads` and `creates` are rates per second. If a rate is 0, as many requests as possible are sent. */
const CASES = [
  { delay: 0, reads: 1000, creates: 0, creators: 16 },
  { delay: 5, reads: 5000, creates: 1000, creators: 64 },
  { delay: 200, reads: 1000, creates: 0, creators: 16 },
] as const;

const CREATE_DELAY = 5;

/** The minimum duration of a measurement, as a number of slow fsyncs. */
const MIN_FSYNCS = 4;
const SERVERS: readonly ServerName[] = ['fastify', OURS, 'elysia', OURS_ON_BUN];

export interface SlowFsync {
  /** The reason why nothing was measured, or `undefined` after a measurement. */
  readonly skipped?: string;
  readonly reads: readonly ReadsWhileCreates[];
  /** The results of creates alone, with each fsync `CREATE_DELAY` ms longer. */
  readonly creates: readonly Row[];
}

interface ReadsWhileCreates {
  readonly server: ServerName;
  /** The number of milliseconds added to each fsync. */
  readonly delay: number;
  readonly reads: StreamResult;
  readonly creates: StreamResult;
}

export async function measureSlowFsync(options: Options): Promise<SlowFsync> {
  if (!canSlowDisk()) return { skipped: 'needs Linux and a C compiler (cc)', reads: [], creates: [] };
  const servers = SERVERS.filter((name) => options.servers.includes(name));
  const sessionOf = (name: ServerName, delay: number): SessionOptions => ({
    name,
    source: filledFile(options.pets),
    pets: options.pets,
    environment: slowFsync(delay),
  });

  const runs: ReadsWhileCreates[] = [];
  for (let round = 0; round < options.rounds; round++) {
    for (const { delay, ...rates } of CASES) {
      for (const server of servers) {
        const found = await Session.run(sessionOf(server, delay), async (session) => {
          await warmUp(session, options);
          return readWhileCreating(session, rates, {
            ...options,
            seconds: Math.max(options.seconds, (MIN_FSYNCS * delay) / 1000),
          });
        });
        progress(`fsync +${delay} ms, ${server}: reads ${milliseconds(found.reads.p99)} ms p99`);
        assertWaits(server, delay, found.creates.min);
        runs.push({ server, delay, ...found });
      }
    }
  }
  const reads = CASES.flatMap(({ delay }) => servers.map((server) => middleRun(runs, server, delay)));

  const creates = await measureInTurn(
    servers.map((name) => ({ label: name, session: sessionOf(name, CREATE_DELAY) })),
    { ...options, works: ['create'] },
  );
  for (const { label, min } of creates) assertWaits(label, CREATE_DELAY, min);
  return { reads, creates };
}

/** Returns the run whose p99 of the reads is the median. */
function middleRun(runs: readonly ReadsWhileCreates[], server: ServerName, delay: number): ReadsWhileCreates {
  const sorted = runs
    .filter((run) => run.server === server && run.delay === delay)
    .sort((a, b) => a.reads.p99 - b.reads.p99);
  const middle = sorted[Math.floor(sorted.length / 2)];
  if (middle === undefined) throw new Error(`${server} was not measured`);
  return middle;
}

/**
 * Applies full load before the measurement, so that Node.js compiles the code. The steady load is too small for this,
 * and compiling during the measurement would delay responses on a server with one core.
 */
async function warmUp(session: Session, { warmup, connections }: Options): Promise<void> {
  if (warmup === 0) return;
  for (const work of ['list', 'get', 'create'] as const) {
    await session.load(work, { seconds: warmup, connections });
  }
}

async function readWhileCreating(
  session: Session,
  { reads, creates, creators }: { reads: number; creates: number; creators: number },
  { seconds, warmup, connections, pets }: Options,
): Promise<{ reads: StreamResult; creates: StreamResult }> {
  const { streams } = await runSteady({
    port: Number(new URL(session.server.origin).port),
    key: API_KEY,
    pets,
    seconds,
    warmup,
    streams: [
      { name: 'reads', works: ['list', 'get'], rate: reads, connections },
      { name: 'creates', works: ['create'], rate: creates, connections: creators },
    ],
  });
  const [readStream, createStream] = streams;
  if (readStream === undefined || createStream === undefined) throw new Error('a stream has no result');
  for (const { name, refused } of streams) {
    if (refused > 0) throw new Error(`${session.server.name}: ${refused} responses to ${name} were not 2xx`);
  }
  session.noteCreates(createStream.responses, createStream.sent);
  return { reads: readStream, creates: createStream };
}

/** Throws if a create was acknowledged before an fsync can have ended, because such a create is not durable. */
function assertWaits(server: string, delay: number, fastest: number): void {
  if (fastest >= delay) return;
  throw new Error(
    `${server}: a create was acknowledged after ${milliseconds(fastest)} ms, but each fsync takes ${delay} ms or more`,
  );
}

export function slowFsyncTable({ skipped, reads, creates }: SlowFsync): string {
  if (skipped !== undefined) return `Skipped: ${skipped}.`;
  const body = reads.map(({ server, delay, reads: read, creates: create }) => [
    `+${delay} ms`,
    titleOf(server),
    whole(read.perSecond),
    milliseconds(read.p50),
    milliseconds(read.p99),
    whole(create.perSecond),
    milliseconds(create.p50),
    milliseconds(create.p99),
    milliseconds(read.lag),
  ]);
  const head = 'fsync,server,reads/s,p50 ms,p99 ms,creates/s,p50 ms,p99 ms,generator late ms'.split(',');
  const title = `\n\nDurable creates alone, each fsync ${CREATE_DELAY} ms longer\n\n`;
  const against = { fastify: 'of Fastify' };
  return (
    table(head, body) + title + rowsTable(creates, 'server', against, (name) => titleOf(name as ServerName))
  );
}
