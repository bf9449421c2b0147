import {
  context,
  createContextKey,
  isSpanContextValid,
  ROOT_CONTEXT,
  type Span,
  type TracerProvider,
  trace,
} from '@opentelemetry/api';
import type { Storage } from '../../application/ports/storage.ts';
import { waitAtMost } from '../../application/wait-at-most.ts';
import { traceStorage } from './traced-storage.ts';

const PROBE = createContextKey('animal-store probe');

/** The key under which the HTTP instrumentation stores {@link RequestMetadata}. Keys with equal descriptions are equal. */
const REQUEST_METADATA = createContextKey('OpenTelemetry SDK Context Key RPC_METADATA');

interface RequestMetadata {
  /** The span of the request. The active span can be one of its children. */
  readonly span: Span;
  /** The HTTP instrumentation adds this route to the span, to the name of the span, and to its metrics. */
  route?: string;
}

/** How long the exit of the process may be delayed by an export, in milliseconds. */
const FLUSH_TIMEOUT = 1000;

interface TracedRequest {
  readonly method: string;
  /** The path template of the route; `undefined` when no route matches. */
  readonly route: string | undefined;
}

export interface Tracing {
  /** Adds the route to the span of each request. */
  readonly observer: { onRequest(request: TracedRequest): void };
  /** Returns the ids of the trace and of the span of the present request, for a line of the log. */
  readonly logFields: () => object;
  /** Returns a storage that adds spans to the trace of a request. */
  traceStorage(storage: Storage): Storage;
  /** Exports the spans that have ended. Resolves when they are exported, or after a second. Never rejects. */
  flush(): Promise<void>;
}

/** Returns `undefined` when the process has loaded no OpenTelemetry SDK: a server then does no work for traces. */
export function findTracing(scheme: string, version: string): Tracing | undefined {
  if (!isSdkLoaded()) return undefined;
  const tracer = trace.getTracer('animal-store', version);
  return {
    observer: { onRequest: setRoute },
    logFields: traceFields,
    traceStorage: (storage) => traceStorage(storage, tracer, scheme),
    flush: flushSpans,
  };
}

/** Only the context manager of an SDK can make a context active. */
function isSdkLoaded(): boolean {
  const isActive = () => context.active().getValue(PROBE) === true;
  return context.with(ROOT_CONTEXT.setValue(PROBE, true), isActive);
}

/** A provider of an SDK. The API of OpenTelemetry does not have the method `forceFlush`. */
interface SdkProvider extends TracerProvider {
  getDelegate?(): SdkProvider;
  forceFlush?(): Promise<void>;
}

async function flushSpans(): Promise<void> {
  const provider: SdkProvider = trace.getTracerProvider();
  const sdk = provider.getDelegate?.() ?? provider;
  const flushed = Promise.resolve(sdk.forceFlush?.()).catch(() => {});
  await waitAtMost(FLUSH_TIMEOUT, flushed);
}

function setRoute({ method, route }: TracedRequest): void {
  const span = requestSpan();
  if (route === undefined || !span?.isRecording()) return;
  const metadata = requestMetadata();
  if (metadata !== undefined) metadata.route = route;
  span.setAttribute('http.route', route);
  span.updateName(`${method} ${route}`);
}

function traceFields(): object {
  const ids = requestSpan()?.spanContext();
  return ids !== undefined && isSpanContextValid(ids) ? { trace_id: ids.traceId, span_id: ids.spanId } : {};
}

function requestSpan(): Span | undefined {
  return requestMetadata()?.span ?? trace.getActiveSpan();
}

function requestMetadata(): RequestMetadata | undefined {
  return context.active().getValue(REQUEST_METADATA) as RequestMetadata | undefined;
}
