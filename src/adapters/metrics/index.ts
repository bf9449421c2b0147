/** The metrics of a server, for Prometheus. */

export { Metrics } from './metrics.ts';
