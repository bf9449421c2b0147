/** The traces of the built server, with the real SDK and a receiver of OTLP. */

import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { Connection } from '../support/connection.ts';
import { stopService } from '../support/process.ts';
import { STORAGES, type StorageKind } from '../support/server.ts';
import { listen } from '../support/sockets.ts';
import { KIND, type ReceivedSpan, Receiver } from './receiver.ts';
import { PRELOAD, startTraced, type TracedService } from './server.ts';

const REX = { name: 'canary-pet-name', categoryId: 1 };
const KEY_LOOKUP = 'find api_keys';
const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const UNSAMPLED_ID = '5cf92f3577b34da6a3ce929d0e0e4737';
const PARENT_ID = '00f067aa0ba902b7';

/** The SDK measures the times of each span with a clock of its own, in nanoseconds. */
const CLOCK_ERROR = 5_000_000n;

interface Started {
  readonly receiver: Receiver;
  readonly service: TracedService;
}

/** Starts a receiver, and a server that sends its spans to the receiver. */
async function start(
  storage: StorageKind,
  nodeArgs?: readonly string[],
  env?: Readonly<Record<string, string>>,
): Promise<Started> {
  const receiver = await Receiver.start();
  return { receiver, service: await startTraced(storage, receiver, nodeArgs, env) };
}

/** Resolves with the server span that the log line of a request names, and with its children. */
async function traceOf(requestId: string, { service, receiver }: Started) {
  const { trace_id, span_id } = await service.line(requestId);
  const span = await receiver.span(span_id);
  expect(span.traceId).toBe(trace_id);
  expect(span.kind).toBe(KIND.server);
  return { span, children: receiver.childrenOf(span) };
}

/** The header field with the id of a request. */
function id(name: string): { 'X-Request-Id': string } {
  return { 'X-Request-Id': name };
}

function namesOf(spans: readonly ReceivedSpan[]): string[] {
  return spans.map(({ name }) => name);
}

test.each(STORAGES)(
  'the trace of a request has a server span with the route and the status, and a span for each call of the storage, on %s',
  async (storage) => {
    const started = await start(storage);
    const { client, key } = started.service;
    await client.post(REX, id('create'));
    await client.post(REX, { ...id('once'), 'Idempotency-Key': 'canary-idempotency-key' });
    await client.post({ name: 'canary-pet-name' }, id('invalid'));
    await client.get('/v1/pets?limit=2', id('list'));
    await client.get('/v1/pets/1', id('get'));
    await client.get('/v1/pets/999', id('missing'));
    await client.get('/v1/nothing', id('nowhere'));
    await client.request('GET', '/v1/pets', { headers: id('anonymous'), key: null });

    const expected: readonly [id: string, name: string, status: number, calls: readonly string[]][] = [
      ['create', 'POST /v1/pets', 201, [KEY_LOOKUP, 'add pets']],
      ['once', 'POST /v1/pets', 201, [KEY_LOOKUP, 'add idempotency_records']],
      ['invalid', 'POST /v1/pets', 400, [KEY_LOOKUP]],
      ['list', 'GET /v1/pets', 200, [KEY_LOOKUP, 'list pets']],
      ['get', 'GET /v1/pets/{petId}', 200, [KEY_LOOKUP, 'find pets']],
      ['missing', 'GET /v1/pets/{petId}', 404, [KEY_LOOKUP, 'find pets']],
      ['nowhere', 'GET', 404, [KEY_LOOKUP]],
      ['anonymous', 'GET', 401, []],
    ];
    for (const [requestId, name, status, calls] of expected) {
      const { span, children } = await traceOf(requestId, started);
      const [method, route] = name.split(' ');
      expect(span).toMatchObject({ name, parentSpanId: '' });
      expect(span.attributes).toMatchObject({
        'http.request.method': method,
        'http.response.status_code': status,
      });
      expect(span.attributes['http.route']).toBe(route);
      expect([requestId, ...namesOf(children)]).toEqual([requestId, ...calls]);
      for (const child of children) expectStorageSpan(child, span, storage);
    }
    const exported = started.receiver.messages.join('');
    for (const secret of [key, 'canary-pet-name', 'canary-idempotency-key']) {
      expect(exported).not.toContain(secret);
    }

    // Many requests share a transaction or a read.
    const numbers = Array.from({ length: 40 }, (_, number) => number);
    await Promise.all(
      numbers.flatMap((number) => [
        client.post(REX, id(`create-${number}`)),
        client.get(`/v1/pets/${number}`, id(`get-${number}`)),
      ]),
    );
    for (const number of numbers) {
      const create = await traceOf(`create-${number}`, started);
      expect(namesOf(create.children)).toEqual([KEY_LOOKUP, 'add pets']);
      const get = await traceOf(`get-${number}`, started);
      expect(namesOf(get.children)).toEqual([KEY_LOOKUP, 'find pets']);
    }
  },
);

function expectStorageSpan(child: ReceivedSpan, parent: ReceivedSpan, storage: StorageKind): void {
  const [operation, collection] = child.name.split(' ');
  expect(child).toMatchObject({
    scope: 'animal-store',
    kind: storage === 'memory' ? KIND.internal : KIND.client,
    attributes: {
      'db.system.name': storage === 'postgres' ? 'postgresql' : storage,
      'db.operation.name': operation,
      'db.collection.name': collection,
    },
  });
  expect(child.start - parent.start).toBeGreaterThan(-CLOCK_ERROR);
  expect(parent.end - child.end).toBeGreaterThan(-CLOCK_ERROR);
}

test('a trace is continued, an unsampled one is only in the log; pipelined requests and Expect have spans', async () => {
  const started = await start('sqlite');
  const { client, key, line, origin } = started.service;
  const traceparent = (traceId: string, flags: string) => ({
    traceparent: `00-${traceId}-${PARENT_ID}-${flags}`,
  });

  await client.get('/v1/pets', { ...id('continued'), ...traceparent(TRACE_ID, '01') });
  const continued = await traceOf('continued', started);
  expect(continued.span).toMatchObject({ traceId: TRACE_ID, parentSpanId: PARENT_ID });
  expect(continued.children.map(({ traceId }) => traceId)).toEqual([TRACE_ID, TRACE_ID]);
  expect(await line('continued')).not.toHaveProperty('traceparent');

  await client.get('/v1/pets', { ...id('unsampled'), ...traceparent(UNSAMPLED_ID, '00') });
  await client.get('/v1/pets', id('sampled'));
  await traceOf('sampled', started);
  const span_id = expect.stringMatching(/^[0-9a-f]{16}$/);
  expect(await line('unsampled')).toMatchObject({ trace_id: UNSAMPLED_ID, span_id });
  expect(started.receiver.messages.join('')).not.toContain(UNSAMPLED_ID);

  await client.post(REX, { ...id('expecting'), Expect: '100-continue' });
  const expecting = await traceOf('expecting', started);
  expect(expecting.span.name).toBe('POST /v1/pets');
  expect(namesOf(expecting.children)).toEqual([KEY_LOOKUP, 'add pets']);

  const connection = await Connection.open(origin);
  const numbers = Array.from({ length: 60 }, (_, number) => number);
  const requests = numbers.map(
    (number) =>
      `GET /v1/pets/${number + 100} HTTP/1.1\r\nHost: x\r\nX-Request-Id: pipelined-${number}\r\n` +
      `Authorization: Bearer ${key}\r\n\r\n`,
  );
  connection.write(requests.join(''));
  for (const _ of numbers) expect((await connection.next()).status).toBe(404);
  connection.destroy();
  for (const number of numbers) {
    const { span, children } = await traceOf(`pipelined-${number}`, started);
    expect(span.attributes['url.path']).toBe(`/v1/pets/${number + 100}`);
    expect(namesOf(children)).toEqual([KEY_LOOKUP, 'find pets']);
  }
});

test.each(['SIGTERM', 'SIGINT'] as const)('the last spans are exported at the stop by %s', async (signal) => {
  const started = await start('sqlite', PRELOAD, { OTEL_BSP_SCHEDULE_DELAY: '60000' });
  const { child, client, exit } = started.service;
  await client.get('/v1/pets', id('last'));
  expect(started.receiver.spans).toEqual([]);
  child.kill(signal);
  expect(await exit).toEqual({ code: 0, signal: null });
  const { children } = await traceOf('last', started);
  expect(namesOf(children)).toEqual([KEY_LOOKUP, 'list pets']);
});

test('a receiver that does not respond does not keep the server from stopping', async () => {
  const url = await listen(createServer(() => {}));
  const patience = { OTEL_EXPORTER_OTLP_TIMEOUT: '600000', OTEL_BSP_EXPORT_TIMEOUT: '600000' };
  const service = await startTraced('sqlite', { url }, PRELOAD, patience);
  expect((await service.client.get('/v1/pets')).status).toBe(200);
  expect(await stopService(service)).toEqual({ code: 0, signal: null });
});

test('with the loader hook, which lets OpenTelemetry instrument Koa and pino too, a log line has the ids once', async () => {
  const hook = ['--no-warnings', '--experimental-loader=@opentelemetry/instrumentation/hook.mjs'];
  const started = await start('sqlite', [...hook, ...PRELOAD]);
  await started.service.client.get('/v1/pets', id('hooked'));
  const { span } = await traceOf('hooked', started);
  expect(span.name).toBe('GET /v1/pets');
  const line = started.service.out.stderr.split('\n').find((text) => text.includes('"hooked"'));
  expect(line?.match(/"(trace|span)_id"/g)).toEqual(['"trace_id"', '"span_id"']);
  const spans = started.receiver.spans.filter(({ traceId }) => traceId === span.traceId);
  expect(new Set(spans.map(({ scope }) => scope))).toContain('@opentelemetry/instrumentation-koa');
  expect(namesOf(spans)).toContain('list pets');
});
