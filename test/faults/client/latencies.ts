/** Times in milliseconds, and their statistics. */

export interface LatencySummary {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

export class Latencies {
  readonly #all: number[] = [];

  get count(): number {
    return this.#all.length;
  }

  add(milliseconds: number): void {
    this.#all.push(milliseconds);
  }

  summary(): LatencySummary {
    const sorted = Float64Array.from(this.#all).sort();
    const at = (share: number) =>
      Math.round(10 * (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0)) / 10;
    return { p50: at(0.5), p99: at(0.99), max: at(1) };
  }
}
