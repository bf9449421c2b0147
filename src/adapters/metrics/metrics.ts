import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { Observer } from '../../application/ports/observer.ts';
import { metricsObserver } from './observer.ts';
import { RequestDurations } from './request-durations.ts';
import { type MetricsSources, registerStatistics } from './statistics.ts';

/** The gauges of prom-client that have the name of a counter, to which `promtool check metrics` objects. */
const MISNAMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];

interface MetricsOptions extends MetricsSources {
  /** The release of the service. */
  readonly version: string;
  /** The scheme of its database, such as `sqlite`. */
  readonly storage: string;
}

/** The metrics of one server, in the text format of Prometheus (https://prometheus.io/docs/instrumenting/exposition_formats/). */
export class Metrics {
  /** Must be notified of the events of the server and of the storage. */
  readonly observer: Observer;
  readonly #registry = new Registry();
  readonly #requests = new RequestDurations();

  constructor(options: MetricsOptions) {
    const { version, storage } = options;
    collectDefaultMetrics({ register: this.#registry });
    for (const name of MISNAMED) this.#registry.removeSingleMetric(name);
    new Gauge({
      name: 'animal_store_build_info',
      help: 'The release, the runtime and the storage; always 1',
      labelNames: ['version', 'node', 'storage'],
      registers: [this.#registry],
    }).set({ version, node: process.version, storage }, 1);
    registerStatistics(this.#registry, options);
    this.observer = {
      ...metricsObserver(this.#registry),
      onRequest: (outcome) => this.#requests.observe(outcome),
    };
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  async text(): Promise<string> {
    return `${await this.#registry.metrics()}\n${this.#requests.text()}`;
  }
}
