import type { RequestOutcome } from '../../application/ports/observer.ts';

const NAME = 'animal_store_http_request_duration_seconds';

/** The upper bounds of the buckets, in seconds. */
const BOUNDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** The methods that have a label of their own. A client can send any method. */
const METHODS = ['GET', 'HEAD', 'POST', 'OPTIONS'];

/** The requests with the same labels. */
export interface Series {
  /** The labels in the text format. Their values come from fixed sets, whatever a client sends, and need no escape. */
  readonly labels: string;
  /** The number of requests in each bucket alone. The last bucket has no upper bound. */
  readonly counts: Float64Array;
  sum: number;
}

/**
 * The histogram of the durations of requests. The histogram of prom-client is not used, because it builds a string of all
 * labels for each observation, and so for each request, which takes many times as long (see bench/README.md).
 */
export class RequestDurations {
  /** The series of each route, by the numbers of method and status. */
  readonly #routes = new Map<string | undefined, Map<number, Series>>();

  observe({ method, route, status, ms }: RequestOutcome): void {
    const series = this.#seriesOf(METHODS.indexOf(method), route, status);
    const seconds = ms / 1000;
    let bucket = 0;
    while (bucket < BOUNDS.length && seconds > (BOUNDS[bucket] as number)) bucket += 1;
    series.counts[bucket] = (series.counts[bucket] as number) + 1;
    series.sum += seconds;
  }

  get series(): readonly Series[] {
    return [...this.#routes.values()].flatMap((ofRoute) => [...ofRoute.values()]);
  }

  #seriesOf(method: number, route: string | undefined, status: number): Series {
    let ofRoute = this.#routes.get(route);
    if (ofRoute === undefined) {
      ofRoute = new Map();
      this.#routes.set(route, ofRoute);
    }
    const number = method * 1000 + status;
    let series = ofRoute.get(number);
    if (series === undefined) {
      const labels = `method="${METHODS[method] ?? 'other'}",route="${route ?? 'none'}",status="${status}"`;
      series = { labels, counts: new Float64Array(BOUNDS.length + 1), sum: 0 };
      ofRoute.set(number, series);
    }
    return series;
  }
}

/** Returns the histogram in the text format of Prometheus. Series with the same labels, of several threads, are added. */
export function textOfDurations(all: readonly Series[]): string {
  return [
    `# HELP ${NAME} Time from the head of a request to its response`,
    `# TYPE ${NAME} histogram`,
    ...addSeries(all).flatMap(linesOf),
    '',
  ].join('\n');
}

/** Adds the series that have the same labels. */
export function addSeries(all: readonly Series[]): readonly Series[] {
  return [...Map.groupBy(all, ({ labels }) => labels).values()].map((same) => same.reduce(sumOf));
}

function sumOf(a: Series, b: Series): Series {
  return {
    labels: a.labels,
    counts: a.counts.map((count, bucket) => count + (b.counts[bucket] as number)),
    sum: a.sum + b.sum,
  };
}

function linesOf({ labels, counts, sum }: Series): string[] {
  let count = 0;
  const buckets = [...BOUNDS, '+Inf'].map((le, index) => {
    count += counts[index] as number;
    return `${NAME}_bucket{le="${le}",${labels}} ${count}`;
  });
  return [...buckets, `${NAME}_sum{${labels}} ${sum}`, `${NAME}_count{${labels}} ${count}`];
}
