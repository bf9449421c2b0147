/** Times in milliseconds, and their statistics. */

export interface LatencySummary {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly max: number;
}

export class Latencies {
  readonly #all: number[] = [];

  add(milliseconds: number): void {
    this.#all.push(milliseconds);
  }

  summary(): LatencySummary {
    const sorted = Float64Array.from(this.#all).sort();
    const at = (share: number) =>
      round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0);
    return { p50: at(0.5), p95: at(0.95), p99: at(0.99), max: at(1) };
  }
}

export function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

function round(milliseconds: number): number {
  return Math.round(milliseconds * 10) / 10;
}
