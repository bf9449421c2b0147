/** Traces of requests, through the API of OpenTelemetry. An OpenTelemetry SDK that the operator loads exports them. */

export { findTracing, type Tracing } from './tracing.ts';
