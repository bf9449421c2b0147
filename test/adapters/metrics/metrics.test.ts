import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Metrics } from '../../../src/adapters/metrics/index.ts';
import { StorageFault } from '../../../src/application/ports/storage-fault.ts';
import { AnimalStoreError } from '../../../src/domain/errors.ts';
import { OUTCOME } from '../../support/outcome.ts';

const DURATION = 'animal_store_http_request_duration_seconds';

/** Returns the value of each series by its name and labels, as Prometheus reads them. */
async function valuesOf(metrics: Metrics): Promise<Map<string, number>> {
  now += 1000;
  const lines = (await metrics.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => {
      const space = line.lastIndexOf(' ');
      return [line.slice(0, space), Number(line.slice(space + 1))];
    }),
  );
}

let now = 0;
beforeEach(() => void vi.spyOn(performance, 'now').mockImplementation(() => now));
afterEach(() => void vi.useRealTimers().restoreAllMocks());

const RECORDS = { count: async () => 0, removeRecords: async () => 0 };

type Sources = Parameters<Metrics['readFrom']>[0];

function open({ server, storage = {} }: Partial<Sources> = {}): Metrics {
  const metrics = new Metrics({ version: '1.2.3', storage: 'memory', methods: ['GET', 'POST'] });
  const statistics = () => ({ connections: 0, requestsInFlight: 0, refused: {} });
  metrics.readFrom({ server: server ?? { statistics }, storage });
  return metrics;
}

test('requests are counted by method, route and status, in cumulative buckets', async () => {
  const metrics = open();
  for (const ms of [0.4, 1, 2, 20_000]) metrics.observer.onRequest?.({ ...OUTCOME, ms });
  metrics.observer.onRequest?.({ ...OUTCOME, method: 'POST', status: 201 });
  const labels = 'method="GET",route="/v1/pets",status="200"';
  expect(Object.fromEntries(await valuesOf(metrics))).toMatchObject({
    [`${DURATION}_bucket{le="0.0005",${labels}}`]: 1,
    [`${DURATION}_bucket{le="0.001",${labels}}`]: 2,
    [`${DURATION}_bucket{le="0.0025",${labels}}`]: 3,
    [`${DURATION}_bucket{le="10",${labels}}`]: 3,
    [`${DURATION}_bucket{le="+Inf",${labels}}`]: 4,
    [`${DURATION}_count{${labels}}`]: 4,
    [`${DURATION}_sum{${labels}}`]: expect.closeTo(20.0034),
    [`${DURATION}_count{method="POST",route="/v1/pets",status="201"}`]: 1,
  });
});

test('the number of series does not grow with the methods and paths that clients send', async () => {
  const metrics = open();
  for (let index = 0; index < 1000; index++)
    metrics.observer.onRequest?.({ ...OUTCOME, method: `M${index}`, route: undefined, status: 404 });
  const values = await valuesOf(metrics);
  expect([...values.keys()].filter((name) => name.startsWith(`${DURATION}_count`))).toEqual([
    `${DURATION}_count{method="other",route="none",status="404"}`,
  ]);
  expect([...values.keys()].filter((name) => /^nodejs_active_\w+_total/.test(name))).toEqual([]);
});

test('commits, errors and the state of the storage', async () => {
  const metrics = open();
  const { observer } = metrics;
  observer.onCommit?.({ writes: 64, ms: 3 });
  observer.onCommit?.({ writes: 1, ms: 0.05 });
  observer.onError?.(new StorageFault('disk_full', 'full'), 'id');
  observer.onError?.(new AnimalStoreError('overloaded', 'too many'), 'id');
  observer.onError?.(new Error('defect'), 'id');
  observer.onError?.('not an error', 'id');
  expect(Object.fromEntries(await valuesOf(metrics))).toMatchObject({
    'animal_store_commit_writes_bucket{le="1"}': 1,
    'animal_store_commit_writes_bucket{le="100"}': 2,
    animal_store_commit_writes_sum: 65,
    'animal_store_commit_duration_seconds_bucket{le="0.0001"}': 1,
    'animal_store_errors_total{reason="disk_full"}': 1,
    'animal_store_errors_total{reason="overloaded"}': 1,
    'animal_store_errors_total{reason="unexpected"}': 2,
    'animal_store_errors_total{reason="unreachable"}': 0,
    animal_store_storage_available: 1,
  });
  observer.onStorageState?.(new StorageFault('disk_full', 'full'));
  expect((await valuesOf(metrics)).get('animal_store_storage_available')).toBe(0);
  observer.onStorageState?.(undefined);
  expect((await valuesOf(metrics)).get('animal_store_storage_available')).toBe(1);
});

test('numbers of the server and of the storage are read when the metrics are requested', async () => {
  const metrics = open({
    server: { statistics: () => ({ connections: 3, requestsInFlight: 2, refused: { busy: 7, rate: 0 } }) },
    storage: {
      statistics: () => ({
        pages: { hits: 10, misses: 1 },
        keys: { hits: 20, misses: 2 },
        waitingWrites: 4,
        logBytes: 4096,
        busySeconds: { writer: 1.5 },
        connections: { busy: 1, idle: 2, waiting: 5 },
      }),
      idempotencyRecords: { ...RECORDS, count: async () => 6 },
    },
  });
  await metrics.text();
  const values = Object.fromEntries(await valuesOf(metrics));
  expect(values).toMatchObject({
    [`animal_store_build_info{version="1.2.3",node="${process.version}",storage="memory"}`]: 1,
    animal_store_http_connections: 3,
    animal_store_http_requests_in_flight: 2,
    'animal_store_http_refused_requests_total{reason="busy"}': 7,
    'animal_store_http_refused_requests_total{reason="rate"}': 0,
    'animal_store_cache_requests_total{cache="pages",result="hit"}': 10,
    'animal_store_cache_requests_total{cache="pages",result="miss"}': 1,
    'animal_store_cache_requests_total{cache="keys",result="hit"}': 20,
    animal_store_waiting_writes: 4,
    animal_store_write_ahead_log_bytes: 4096,
    'animal_store_database_connections{state="busy"}': 1,
    'animal_store_database_connections{state="idle"}': 2,
    animal_store_database_waiting_calls: 5,
    animal_store_idempotency_records: 6,
    'animal_store_thread_busy_seconds_total{thread="writer"}': 1.5,
    'animal_store_thread_busy_seconds_total{thread="main"}': expect.any(Number),
    process_resident_memory_bytes: expect.any(Number),
    nodejs_eventloop_lag_p99_seconds: expect.any(Number),
  });
  // The clock of `performance` stands still here.
  expect(values['animal_store_thread_busy_seconds_total{thread="main"}']).toBeLessThan(process.uptime());
});

test('idempotency records are counted once a minute', async () => {
  let counted = 0;
  const count = async () => (counted += 1);
  const metrics = open({ storage: { idempotencyRecords: { ...RECORDS, count } } });
  const numbers: unknown[] = [];
  for (const later of [0, 58_000, 0]) {
    now += later;
    numbers.push((await valuesOf(metrics)).get('animal_store_idempotency_records'));
  }
  expect(numbers).toEqual([1, 1, 2]);
});

test('a storage without numbers, and records that cannot be counted', async () => {
  const count = () => Promise.reject(new Error('no'));
  const values = await valuesOf(open({ storage: { idempotencyRecords: { ...RECORDS, count } } }));
  expect(values.get('animal_store_idempotency_records')).toBeNaN();
  const missing = /^animal_store_(waiting_writes|write_ahead|cache_requests|database)/;
  expect([...values.keys()].filter((name) => missing.test(name))).toEqual([]);
  expect([...(await valuesOf(open())).keys()].filter((name) => name.includes('idempotency'))).toEqual([]);
});

test('a count of records that takes longer than a second delays no text, and no other begins beside it', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const { promise, resolve } = Promise.withResolvers<number>();
  const count = vi.fn(() => promise);
  const metrics = open({ storage: { idempotencyRecords: { ...RECORDS, count } } });
  for (const _ of [1, 2]) {
    now += 100_000;
    const values = valuesOf(metrics);
    await vi.advanceTimersByTimeAsync(1000);
    expect((await values).get('animal_store_idempotency_records')).toBeNaN();
  }
  resolve(7);
  expect((await valuesOf(metrics)).get('animal_store_idempotency_records')).toBe(7);
  expect(count).toHaveBeenCalledOnce();
});

test('requests share a text while it is made and for a second', async () => {
  const statistics = vi.fn(() => ({ connections: 0, requestsInFlight: 0, refused: {} }));
  const { promise, resolve } = Promise.withResolvers<number>();
  const idempotencyRecords = { ...RECORDS, count: () => promise };
  const metrics = open({ server: { statistics }, storage: { idempotencyRecords } });
  const texts = [metrics.text()];
  now += 5000;
  texts.push(metrics.text());
  resolve(7);
  expect(new Set(await Promise.all(texts)).size).toBe(1);
  const reads = statistics.mock.calls.length;
  now += 999;
  await metrics.text();
  expect(statistics).toHaveBeenCalledTimes(reads);
  now += 1;
  await metrics.text();
  expect(statistics).toHaveBeenCalledTimes(2 * reads);
});

test('two servers in one process have metrics of their own', async () => {
  const [one, two] = [open(), open()];
  one.observer.onCommit?.({ writes: 1, ms: 1 });
  expect((await valuesOf(one)).get('animal_store_commit_writes_count')).toBe(1);
  expect((await valuesOf(two)).get('animal_store_commit_writes_count')).toBe(0);
});
