/**
 * An SDK of OpenTelemetry that keeps spans in memory. test/tracing has the tests with the real SDK.
 */

import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type Attributes,
  type Context,
  type ContextManager,
  context,
  createContextKey,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  type SpanOptions,
  type SpanStatus,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { onTestFinished } from 'vitest';

const REQUEST_METADATA = createContextKey('OpenTelemetry SDK Context Key RPC_METADATA');

export class FakeSpan implements Span {
  name: string;
  readonly options: SpanOptions;
  readonly parentId: string | undefined;
  readonly attributes: Attributes;
  status: SpanStatus | undefined;
  isEnded = false;
  readonly #id: string;

  constructor(number: number, name: string, options: SpanOptions, parentId: string | undefined) {
    this.#id = String(number).padStart(16, '0');
    this.name = name;
    this.options = options;
    this.attributes = { ...options.attributes };
    this.parentId = parentId;
  }

  spanContext(): SpanContext {
    return { traceId: 'a'.repeat(32), spanId: this.#id, traceFlags: 1 };
  }

  isRecording(): boolean {
    return !this.isEnded;
  }

  end(): void {
    this.isEnded = true;
  }

  setAttribute(key: string, value: string): this {
    return this.setAttributes({ [key]: value });
  }

  setAttributes(attributes: Attributes): this {
    Object.assign(this.attributes, attributes);
    return this;
  }

  setStatus(status: SpanStatus): this {
    this.status = status;
    return this;
  }

  updateName(name: string): this {
    this.name = name;
    return this;
  }

  addEvent(): never {
    throw new Error('the server does not use this method');
  }

  addLink(): never {
    return this.addEvent();
  }

  addLinks(): never {
    return this.addEvent();
  }

  recordException(): never {
    return this.addEvent();
  }
}

export interface FakeSdk {
  /** All started spans. */
  readonly spans: FakeSpan[];
  /** Calls `work` in the context of a request, as the HTTP instrumentation does. The span ends when `work` has ended. */
  request<T>(work: (span: FakeSpan, metadata: { route?: string }) => Promise<T>): Promise<T>;
}

/** Registers an SDK until the end of the test. */
export function registerSdk(provider: { forceFlush?(): Promise<void> } = {}): FakeSdk {
  const spans: FakeSpan[] = [];
  const startSpan: Tracer['startSpan'] = (name, options = {}, parent = context.active()) => {
    const span = new FakeSpan(spans.length + 1, name, options, trace.getSpan(parent)?.spanContext().spanId);
    spans.push(span);
    return span;
  };
  const startActiveSpan = (name: string, options: SpanOptions, work: (span: Span) => unknown) => {
    const span = startSpan(name, options);
    return context.with(trace.setSpan(context.active(), span), () => work(span));
  };
  const tracer = { startSpan, startActiveSpan } as Tracer;
  context.setGlobalContextManager(contextManager());
  trace.setGlobalTracerProvider({ ...provider, getTracer: () => tracer });
  onTestFinished(() => {
    context.disable();
    trace.disable();
  });
  return {
    spans,
    async request(work) {
      const span = startSpan('GET', {}, ROOT_CONTEXT) as FakeSpan;
      const metadata: { readonly span: Span; route?: string } = { span };
      const inRequest = trace.setSpan(ROOT_CONTEXT, span).setValue(REQUEST_METADATA, metadata);
      try {
        return await context.with(inRequest, () => work(span, metadata));
      } finally {
        span.end();
      }
    },
  };
}

function contextManager(): ContextManager {
  const storage = new AsyncLocalStorage<Context>();
  const manager: ContextManager = {
    active: () => storage.getStore() ?? ROOT_CONTEXT,
    with: (active, work, self, ...values) => storage.run(active, () => work.apply(self, values)),
    bind: (_context, target) => target,
    enable: () => manager,
    disable: () => manager,
  };
  return manager;
}
