/** Watches a server from outside: whether it is alive, how fast it responds, and how much memory it uses. */

import type { FaultsServer } from '../server.ts';
import { KeepAliveClient } from './client.ts';
import { Latencies, type LatencySummary, median } from './latencies.ts';

const PROBE_INTERVAL = 200;
const PROBE_TIMEOUT = 10_000;

/** In MB. A server that uses more is ended before the machine runs out of memory. */
const MEMORY_LIMIT = 4096;

export interface Watched {
  readonly probes: number;
  /** Descriptions of the failed probes. */
  readonly failures: readonly string[];
  readonly latency: LatencySummary;
  /** Resident memory in MB, and the number of samples. */
  readonly memory: {
    readonly samples: number;
    readonly peak: number;
  };
}

export class Watch {
  readonly #server: FaultsServer;
  readonly #latencies = new Latencies();
  readonly #memory: number[] = [];
  readonly #failures: string[] = [];
  readonly #timer: NodeJS.Timeout;
  readonly #underWay = new Set<Promise<void>>();
  #probes = 0;

  constructor(server: FaultsServer) {
    this.#server = server;
    this.#timer = setInterval(() => this.#look(), PROBE_INTERVAL);
  }

  /** How much the median of the last seconds exceeds the median of as many seconds before them, in MB. */
  memoryGrowth(seconds: number): number {
    const samples = Math.floor((seconds * 1000) / PROBE_INTERVAL);
    return median(this.#memory.slice(-samples)) - median(this.#memory.slice(-2 * samples, -samples));
  }

  async stop(): Promise<Watched> {
    clearInterval(this.#timer);
    await Promise.all(this.#underWay);
    return {
      probes: this.#probes,
      failures: this.#failures,
      latency: this.#latencies.summary(),
      memory: { samples: this.#memory.length, peak: Math.round(Math.max(0, ...this.#memory)) },
    };
  }

  #look(): void {
    const probe = this.#probe().finally(() => this.#underWay.delete(probe));
    this.#underWay.add(probe);
    const memory = this.#server.memory();
    if (memory !== undefined) this.#memory.push(memory);
    if (memory !== undefined && memory > MEMORY_LIMIT) void this.#server.kill();
  }

  /** Uses a new connection, like a supervisor. */
  async #probe(): Promise<void> {
    this.#probes += 1;
    const start = performance.now();
    const client = new KeepAliveClient(this.#server.port, PROBE_TIMEOUT);
    const reply = await client.request('/livez');
    client.disconnect();
    this.#latencies.add(performance.now() - start);
    if ('failure' in reply) this.#failures.push(reply.failure);
    else if (reply.status !== 200) this.#failures.push(`status ${reply.status}`);
  }
}
