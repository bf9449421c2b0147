import { type Attributes, type Span, SpanKind, SpanStatusCode, type Tracer, trace } from '@opentelemetry/api';
import { asAnimalStoreError } from '../../domain/errors.ts';

/** The names of database systems in the semantic conventions of OpenTelemetry, if they differ from the scheme. */
const SYSTEMS: Readonly<Record<string, string>> = { postgres: 'postgresql' };

/**
 * Starts and ends the spans of calls to the storage. The names and the attributes follow the semantic conventions of
 * OpenTelemetry for database clients. A span contains no value of a call: no API key, no idempotency key and no pet.
 */
export class StorageSpans {
  readonly #tracer: Tracer;
  readonly #system: string;
  readonly #kind: SpanKind;

  /** @param scheme the scheme of the database URL */
  constructor(tracer: Tracer, scheme: string) {
    this.#tracer = tracer;
    this.#system = SYSTEMS[scheme] ?? scheme;
    this.#kind = scheme === 'memory' ? SpanKind.INTERNAL : SpanKind.CLIENT;
  }

  /**
   * Calls `work` within a span, whose parent is the active span. Without an active span that is recorded, for example
   * outside a request, only calls `work`.
   *
   * @param operation the method of the repository
   * @param collection the table that contains the data
   */
  async run<T>(operation: string, collection: string, work: () => Promise<T>): Promise<T> {
    if (!trace.getActiveSpan()?.isRecording()) return work();
    const attributes: Attributes = {
      'db.system.name': this.#system,
      'db.operation.name': operation,
      'db.collection.name': collection,
    };
    const name = `${operation} ${collection}`;
    return this.#tracer.startActiveSpan(name, { kind: this.#kind, attributes }, async (span) => {
      try {
        return await work();
      } catch (error) {
        fail(span, error);
        throw error;
      } finally {
        span.end();
      }
    });
  }
}

/** Records the kind of an error. Its message is left out, because it can contain values of the call. */
function fail(span: Span, error: unknown): void {
  const type = asAnimalStoreError(error)?.code ?? (error instanceof Error ? error.name : '_OTHER');
  span.setAttribute('error.type', type);
  span.setStatus({ code: SpanStatusCode.ERROR });
}
