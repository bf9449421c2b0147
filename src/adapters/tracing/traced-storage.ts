import { type Span, SpanKind, SpanStatusCode, type Tracer, trace } from '@opentelemetry/api';
import type { Storage } from '../../application/ports/storage.ts';
import { asAnimalStoreError } from '../../domain/errors.ts';

/**
 * Returns a storage with a span for each call of the repositories, by the semantic conventions for database clients. A
 * span contains no value of a call: no API key, no idempotency key and no pet.
 */
export function traceStorage(storage: Storage, tracer: Tracer, scheme: string): Storage {
  const system = scheme === 'postgres' ? 'postgresql' : scheme;
  const kind = scheme === 'memory' ? SpanKind.INTERNAL : SpanKind.CLIENT;
  const traced = <R extends object>(repository: R, collection: string): R => {
    const get = (target: R, operation: string): unknown => {
      const method: unknown = target[operation as keyof R];
      if (typeof method !== 'function') return method;
      return (...values: readonly unknown[]): Promise<unknown> => {
        const call = (): Promise<unknown> => method.apply(target, values);
        if (!trace.getActiveSpan()?.isRecording()) return call();
        const attributes = {
          'db.system.name': system,
          'db.operation.name': operation,
          'db.collection.name': collection,
        };
        const name = `${operation} ${collection}`;
        return tracer.startActiveSpan(name, { kind, attributes }, (span) => endWith(span, call));
      };
    };
    return new Proxy(repository, { get });
  };
  return {
    idempotencyRecords: storage.idempotencyRecords,
    pets: traced(storage.pets, 'pets'),
    apiKeys: traced(storage.apiKeys, 'api_keys'),
    idempotentCreates: traced(storage.idempotentCreates, 'idempotency_records'),
    transfer: storage.transfer,
    backup: storage.backup?.bind(storage),
    statistics: storage.statistics?.bind(storage),
    check: () => storage.check(),
    close: () => storage.close(),
  };
}

/** Ends the span with the call. The message of an error is left out, because it can contain values of the call. */
async function endWith(span: Span, call: () => Promise<unknown>): Promise<unknown> {
  try {
    return await call();
  } catch (error) {
    const type = asAnimalStoreError(error)?.code ?? (error instanceof Error ? error.name : '_OTHER');
    span.setAttribute('error.type', type).setStatus({ code: SpanStatusCode.ERROR });
    throw error;
  } finally {
    span.end();
  }
}
