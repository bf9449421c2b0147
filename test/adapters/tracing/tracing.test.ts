import { context, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { openMemoryStorage } from '../../../src/adapters/memory/index.ts';
import { findTracing, type Tracing } from '../../../src/adapters/tracing/index.ts';
import { StorageFault } from '../../../src/application/ports/storage-fault.ts';
import { AnimalStoreError } from '../../../src/domain/errors.ts';
import { OUTCOME } from '../../support/outcome.ts';
import { type FakeSpan, registerSdk } from './fake-sdk.ts';

const REX = { name: 'canary-name', categoryId: 7n, status: 'available' } as const;
const ROUTE = '/v1/pets';

function start(scheme = 'sqlite') {
  const sdk = registerSdk();
  const tracing = findTracing(scheme, '1.0.0') as Tracing;
  return { ...sdk, tracing };
}

function callsOf(spans: readonly FakeSpan[]): FakeSpan[] {
  return spans.filter(({ parentId }) => parentId !== undefined);
}

test('without an SDK, there are no traces', () => {
  expect(findTracing('sqlite', '1.0.0')).toBeUndefined();
});

describe('the span of a request', () => {
  test('gets the route as its name and its attribute, and the instrumentation gets the route', async () => {
    const { tracing, request } = start();
    await request(async (span, metadata) => {
      tracing.observer.onRequest?.(OUTCOME);
      expect(span.name).toBe(`GET ${ROUTE}`);
      expect(span.attributes).toEqual({ 'http.route': ROUTE });
      expect(metadata.route).toBe(ROUTE);
    });
  });

  test('gets the route even if the span of another instrumentation is active', async () => {
    const { tracing, request, spans } = start();
    await request(async () => {
      const inner = trace.getTracer('koa').startSpan('middleware');
      context.with(trace.setSpan(context.active(), inner), () => tracing.observer.onRequest?.(OUTCOME));
    });
    expect(spans.map(({ name }) => name)).toEqual([`GET ${ROUTE}`, 'middleware']);
  });

  test('is the active span if the instrumentation does not name it', () => {
    const { tracing } = start();
    const span = trace.getTracer('other').startSpan('request') as FakeSpan;
    context.with(trace.setSpan(ROOT_CONTEXT, span), () => tracing.observer.onRequest?.(OUTCOME));
    expect(span.name).toBe(`GET ${ROUTE}`);
  });

  test('is not changed if no route matches, or if it has ended', async () => {
    const { tracing, request } = start();
    await request(async (span, metadata) => {
      tracing.observer.onRequest?.({ ...OUTCOME, route: undefined });
      span.end();
      tracing.observer.onRequest?.(OUTCOME);
      expect(span).toMatchObject({ name: 'GET', attributes: {} });
      expect(metadata).not.toHaveProperty('route');
    });
    expect(() => tracing.observer.onRequest?.(OUTCOME)).not.toThrow();
  });
});

test('the fields of a log line are the ids of the span of the request, and nothing outside a request', async () => {
  const { tracing, request } = start();
  expect(tracing.logFields()).toEqual({});
  await request(async () => {
    await trace.getTracer('x').startActiveSpan('inner', {}, async () => {
      expect(tracing.logFields()).toEqual({ trace_id: 'a'.repeat(32), span_id: '0000000000000001' });
    });
  });
});

describe('a storage', () => {
  test.each([
    ['sqlite', 'sqlite', SpanKind.CLIENT],
    ['postgres', 'postgresql', SpanKind.CLIENT],
    ['postgresql', 'postgresql', SpanKind.CLIENT],
    ['memory', 'memory', SpanKind.INTERNAL],
  ])('has a span for each call in a request: %s', async (scheme, system, kind) => {
    const { tracing, request, spans } = start(scheme);
    const storage = tracing.traceStorage(openMemoryStorage());
    await request(async (span) => {
      const { id } = await storage.pets.add(REX);
      await storage.pets.find(id);
      await storage.pets.list({ limit: 5 });
      await storage.apiKeys.find('canary-key');
      await storage.idempotentCreates.add(REX, { caller: 'a', key: 'canary-once', at: 1, validFrom: 0 });
      expect(callsOf(spans).every(({ parentId }) => parentId === span.spanContext().spanId)).toBe(true);
    });
    const names = callsOf(spans).map(({ name }) => name);
    expect(names).toEqual(['add pets', 'find pets', 'list pets', 'find api_keys', 'add idempotency_records']);
    for (const { name, attributes, options, isEnded, status } of callsOf(spans)) {
      const [operation, collection] = name.split(' ');
      expect(attributes).toEqual({
        'db.system.name': system,
        'db.operation.name': operation,
        'db.collection.name': collection,
      });
      expect({ kind: options.kind, isEnded, status }).toEqual({ kind, isEnded: true, status: undefined });
    }
  });

  test('has no spans outside a request, and after the span of the request has ended', async () => {
    const { tracing, request, spans } = start();
    const storage = tracing.traceStorage(openMemoryStorage());
    expect((await storage.pets.add(REX)).id).toBe(1n);
    await request(async (span) => {
      span.end();
      expect(await storage.pets.find(1n)).toMatchObject(REX);
    });
    expect(callsOf(spans)).toEqual([]);
  });

  test.each([
    ['the code', new AnimalStoreError('overloaded', 'canary'), 'overloaded'],
    ['the code', new StorageFault('disk_full', 'canary'), 'storage_unavailable'],
    ['the name', new TypeError('canary'), 'TypeError'],
    ['no name', 'canary', '_OTHER'],
  ])(
    'marks the span of a failed call with %s of its error, without the message',
    async (_case, error, type) => {
      const { tracing, request, spans } = start();
      const storage = openMemoryStorage();
      const fail = () => Promise.reject(error);
      const traced = tracing.traceStorage({ ...storage, pets: { add: fail, find: fail, list: fail } });
      await request(async () => {
        await expect(traced.pets.find(1n)).rejects.toBe(error);
      });
      const [span] = callsOf(spans);
      expect(span?.status).toEqual({ code: SpanStatusCode.ERROR });
      expect(span?.attributes['error.type']).toBe(type);
      expect(span?.isEnded).toBe(true);
      expect(JSON.stringify(span)).not.toContain('canary');
    },
  );

  test('keeps its optional methods', async () => {
    const { tracing } = start();
    const storage = openMemoryStorage();
    const backup = vi.fn(async () => {});
    const traced = tracing.traceStorage({ ...storage, backup, statistics: () => ({ waitingWrites: 3 }) });
    await traced.backup?.('file');
    expect(backup).toHaveBeenCalledWith('file');
    expect(traced.statistics?.()).toEqual({ waitingWrites: 3 });
    expect(tracing.traceStorage(storage)).toMatchObject({ backup: undefined, statistics: undefined });
  });
});

describe('at the stop', () => {
  async function flush(forceFlush?: () => Promise<void>): Promise<void> {
    registerSdk(forceFlush && { forceFlush });
    await findTracing('sqlite', '1.0.0')?.flush();
  }

  test('the ended spans are exported', async () => {
    const forceFlush = vi.fn(async () => {});
    await flush(forceFlush);
    expect(forceFlush).toHaveBeenCalledOnce();
  });

  test('a failed export is ignored', async () => {
    await expect(flush(() => Promise.reject(new Error('refused')))).resolves.toBeUndefined();
  });

  test('an SDK that cannot export is not asked', async () => {
    await expect(flush()).resolves.toBeUndefined();
  });

  test('an export that does not end is awaited for a second', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    let isFlushed = false;
    const flushed = flush(() => new Promise(() => {})).then(() => (isFlushed = true));
    await vi.advanceTimersByTimeAsync(999);
    expect(isFlushed).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(await flushed).toBe(true);
  });
});
