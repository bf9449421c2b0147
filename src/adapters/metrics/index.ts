/** The metrics of a server, for Prometheus. */

export {
  addSnapshots,
  countersOf,
  METRICS_TYPE,
  Metrics,
  type MetricsSnapshot,
  textOfThreads,
} from './metrics.ts';
