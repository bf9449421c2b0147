/** The metrics of one server, in the text format of Prometheus. */

import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Observer } from '../../application/ports/observer.ts';
import type { RequestObserver } from '../../application/ports/request-observer.ts';
import { STORAGE_FAULT_REASONS, storageFaultReason } from '../../application/ports/storage-fault.ts';
import { asAnimalStoreError } from '../../domain/errors.ts';
import { type MetricsSources, registerSources } from './sources.ts';

/** The upper bounds of the buckets. `WRITES_BOUNDS` are numbers of writes; the others are in seconds. */
const REQUEST_BOUNDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const COMMIT_BOUNDS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];
const WRITES_BOUNDS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];

/** The reasons whose counters start at 0, because otherwise their first increase would be invisible. */
const ERROR_REASONS: readonly string[] = [
  ...STORAGE_FAULT_REASONS,
  ...['overloaded', 'storage_unavailable', 'internal_error', 'unexpected'],
];

/** How long the text of the metrics is cached, in milliseconds. */
const TEXT_INTERVAL = 1000;

export interface MetricsOptions {
  readonly version: string;
  /** The scheme of the database, such as `sqlite`. */
  readonly storage: string;
  /** The HTTP methods that get a label of their own. All others share one, because a client can send any text as a method. */
  readonly methods: readonly string[];
}

export class Metrics {
  readonly contentType: string = Registry.PROMETHEUS_CONTENT_TYPE;
  /** Must be notified of the events of the server and of the storage. */
  readonly observer: Observer & RequestObserver;
  readonly #registry = new Registry();
  #text = Promise.resolve('');
  #until = 0;

  constructor({ version, storage, methods }: MetricsOptions) {
    collectDefaultMetrics({ register: this.#registry });
    // These gauges are named like counters, so `promtool check metrics` objects to them.
    for (const what of ['handles', 'requests', 'resources'])
      this.#registry.removeSingleMetric(`nodejs_active_${what}_total`);
    this.observer = observerOf(this.#registry, { version, node: process.version, storage }, methods);
  }

  /** Adds the values that a server and its storage count. They are read when the metrics are requested. */
  readFrom(sources: MetricsSources): void {
    registerSources(this.#registry, sources);
  }

  /** Returns the metrics. Calls during their collection, or within a second after it, share one text. */
  text(): Promise<string> {
    if (performance.now() < this.#until) return this.#text;
    this.#until = Infinity;
    this.#text = this.#registry.metrics().finally(() => {
      this.#until = performance.now() + TEXT_INTERVAL;
    });
    return this.#text;
  }
}

function observerOf(
  registry: Registry,
  build: Record<string, string>,
  methods: readonly string[],
): Observer & RequestObserver {
  const metric = (name: string, help: string, ...labelNames: string[]) => ({
    name: `animal_store_${name}`,
    help,
    labelNames,
    registers: [registry],
  });
  const release = metric('build_info', 'Always 1: the release, runtime and storage', ...Object.keys(build));
  new Gauge(release).set(build, 1);
  const requests = new Histogram({
    ...metric('http_request_duration_seconds', 'From the head to the response', 'method', 'route', 'status'),
    buckets: REQUEST_BOUNDS,
  });
  const commits = new Histogram({
    ...metric('commit_duration_seconds', 'Time until a transaction was durable'),
    buckets: COMMIT_BOUNDS,
  });
  const writes = new Histogram({
    ...metric('commit_writes', 'Number of writes in a transaction'),
    buckets: WRITES_BOUNDS,
  });
  const errors = new Counter(metric('errors_total', 'Status 500 or above, by reason or code', 'reason'));
  for (const reason of ERROR_REASONS) errors.inc({ reason }, 0);
  const available = new Gauge(metric('storage_available', '0 while the storage has a known fault, or 1'));
  available.set(1);
  return {
    onRequest({ method, route = 'none', status, ms }) {
      requests.observe({ method: methods.includes(method) ? method : 'other', route, status }, ms / 1000);
    },
    onError(error) {
      errors.inc({ reason: storageFaultReason(error) ?? asAnimalStoreError(error)?.code ?? 'unexpected' });
    },
    onCommit(commit) {
      commits.observe(commit.ms / 1000);
      writes.observe(commit.writes);
    },
    onStorageState: (fault) => available.set(fault === undefined ? 1 : 0),
  };
}
