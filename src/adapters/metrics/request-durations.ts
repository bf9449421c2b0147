import { Histogram, Registry } from 'prom-client';

export interface MeasuredRequest {
  readonly method: string;
  /** The path template of the route; `undefined` when no route matches. */
  readonly route: string | undefined;
  readonly status: number;
  readonly ms: number;
}

/** The upper bounds of the buckets, in seconds. */
const BOUNDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** The methods that have a label of their own. A client can send any method. */
const METHODS = ['GET', 'HEAD', 'POST', 'OPTIONS'];

/**
 * The durations of requests. Requests with the same labels have a histogram of their own, because a histogram with labels
 * builds a string of them for each observation, which takes longer than the rest (see bench/README.md).
 */
export class RequestDurations {
  /** The histograms of each route, by the numbers of method and status. */
  readonly #histograms = new Map<string, Map<number, Histogram>>();
  /** The registries of the histograms, which add the labels. */
  readonly registries: Registry[] = [];

  observe({ method, route = 'none', status, ms }: MeasuredRequest): void {
    const index = METHODS.indexOf(method);
    const number = index * 1000 + status;
    let histogram = this.#histograms.get(route)?.get(number);
    if (histogram === undefined) {
      histogram = this.#newHistogram({ method: METHODS[index] ?? 'other', route, status });
      const ofRoute = this.#histograms.get(route) ?? new Map<number, Histogram>();
      this.#histograms.set(route, ofRoute.set(number, histogram));
    }
    histogram.observe(ms / 1000);
  }

  #newHistogram(labels: object): Histogram {
    const registry = new Registry();
    registry.setDefaultLabels(labels);
    this.registries.push(registry);
    return new Histogram({
      name: 'animal_store_http_request_duration_seconds',
      help: 'Time from the head of a request to its response',
      buckets: BOUNDS,
      registers: [registry],
    });
  }
}
