/** Accesses the span of the present request, which the HTTP instrumentation of OpenTelemetry has started. */

import { context, createContextKey, isSpanContextValid, type Span, trace } from '@opentelemetry/api';
import type { RequestOutcome } from '../../application/ports/observer.ts';

/**
 * The key under which the HTTP instrumentation stores {@link RequestMetadata} in the context of a request. Keys with
 * the same description are equal.
 */
const REQUEST_METADATA = createContextKey('OpenTelemetry SDK Context Key RPC_METADATA');

interface RequestMetadata {
  /** The span of the request. The active span can be one of its children. */
  readonly span: Span;
  /** The HTTP instrumentation adds this route to the span, to the name of the span, and to its metrics. */
  route?: string;
}

/** Adds the route of a request to its span. Does nothing when no route matches, or when the span has ended. */
export function setRoute({ method, route }: Pick<RequestOutcome, 'method' | 'route'>): void {
  const span = requestSpan();
  if (route === undefined || !span?.isRecording()) return;
  const metadata = requestMetadata();
  if (metadata !== undefined) metadata.route = route;
  span.setAttribute('http.route', route);
  span.updateName(`${method} ${route}`);
}

/** Returns the ids that connect a line of the log to a trace: `trace_id` and `span_id`, or none outside a request. */
export function traceFields(): object {
  const ids = requestSpan()?.spanContext();
  return ids !== undefined && isSpanContextValid(ids) ? { trace_id: ids.traceId, span_id: ids.spanId } : {};
}

function requestSpan(): Span | undefined {
  return requestMetadata()?.span ?? trace.getActiveSpan();
}

function requestMetadata(): RequestMetadata | undefined {
  return context.active().getValue(REQUEST_METADATA) as RequestMetadata | undefined;
}
