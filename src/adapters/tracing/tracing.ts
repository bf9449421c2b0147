import { context, createContextKey, ROOT_CONTEXT, type TracerProvider, trace } from '@opentelemetry/api';
import { atMost } from '../../application/at-most.ts';
import type { Observer } from '../../application/ports/observer.ts';
import type { Storage } from '../../application/ports/storage.ts';
import { setRoute, traceFields } from './server-span.ts';
import { traceStorage } from './traced-storage.ts';

const PROBE = createContextKey('animal-store probe');

/** How long the exit of the process may be delayed by an export, in milliseconds. */
const FLUSH_TIMEOUT = 1000;

/** The connection of a server to an OpenTelemetry SDK. */
export interface Tracing {
  /** Adds the route to the span of each request. */
  readonly observer: Observer;
  /** Returns the ids of the trace and of the span of the present request, for a line of the log. */
  readonly logFields: () => object;
  /** Returns a storage that adds spans to the trace of a request. */
  traceStorage(storage: Storage): Storage;
  /** Exports the spans that have ended. Resolves when they are exported, or after a second. Never rejects. */
  flush(): Promise<void>;
}

/**
 * Returns the connection to the OpenTelemetry SDK of the process, or `undefined` when no SDK was loaded. Without an SDK,
 * a server must not do any work for traces.
 *
 * @param scheme the scheme of the database URL
 */
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

/** Whether a context can become active. The API can do this only after an SDK has registered its context manager. */
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
  await atMost(FLUSH_TIMEOUT, flushed);
}
