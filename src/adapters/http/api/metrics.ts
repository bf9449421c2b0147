import type { Handler } from './exchange.ts';
import { API_HEADERS, NO_STORE } from './headers.ts';
import type { MetricsText } from './options.ts';

export const METRICS_PATH = '/metrics';

/** Responds with the present values of the metrics. */
export function metricsHandler(metrics: MetricsText): Handler {
  return async () => ({
    status: 200,
    headers: [...API_HEADERS, 'Content-Type', metrics.contentType, ...NO_STORE],
    body: await metrics.text(),
  });
}
