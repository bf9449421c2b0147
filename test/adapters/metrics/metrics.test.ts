import { expect, test } from 'vitest';
import { Metrics, textOfThreads } from '../../../src/adapters/metrics/index.ts';
import type { MeasuredRequest } from '../../../src/adapters/metrics/request-durations.ts';
import { StorageFault } from '../../../src/application/ports/storage-fault.ts';
import { AnimalStoreError } from '../../../src/domain/errors.ts';

const OUTCOME: MeasuredRequest = { method: 'GET', route: '/v1/pets', status: 200, ms: 2 };

/** Returns the value of each series by its name and labels, as Prometheus reads them. */
async function valuesOf(metrics: Pick<Metrics, 'text'>): Promise<Map<string, number>> {
  const lines = (await metrics.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => {
      const space = line.lastIndexOf(' ');
      return [line.slice(0, space), Number(line.slice(space + 1))];
    }),
  );
}

const NO_STATISTICS = {
  restartedThreads: () => 0,
  serverStatistics: () => ({ connections: 0, requestsInFlight: 0, refused: {} }),
  storageStatistics: () => ({}),
  countRecords: async () => 0,
  lastBackupAt: async () => undefined,
};

const open = (sources: Partial<ConstructorParameters<typeof Metrics>[0]> = {}) =>
  new Metrics({ version: '1.2.3', storage: 'memory', ...NO_STATISTICS, ...sources });
const DURATION = 'animal_store_http_request_duration_seconds';

test('requests are counted by method, route and status, in cumulative buckets', async () => {
  const metrics = open();
  for (const ms of [0.4, 1, 2, 20_000]) metrics.observer.onRequest({ ...OUTCOME, ms });
  metrics.observer.onRequest({ ...OUTCOME, method: 'POST', status: 201 });
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
  for (let index = 0; index < 1000; index++) {
    const request = { ...OUTCOME, method: `M${index}`, route: undefined, path: `/${index}`, status: 404 };
    metrics.observer.onRequest(request);
  }
  const values = await valuesOf(metrics);
  expect([...values.keys()].filter((name) => name.startsWith(`${DURATION}_count`))).toEqual([
    `${DURATION}_count{method="other",route="none",status="404"}`,
  ]);
});

test('commits, errors and the state of the storage', async () => {
  const metrics = open();
  const { observer } = metrics;
  observer.onCommit({ writes: 64, ms: 3 });
  observer.onCommit({ writes: 1, ms: 0.05 });
  observer.onError(new StorageFault('disk_full', 'full'));
  observer.onError(new AnimalStoreError('overloaded', 'too many'));
  observer.onError(new Error('defect'));
  observer.onError('not an error');
  let values = await valuesOf(metrics);
  expect(values.get('animal_store_commit_writes_bucket{le="1"}')).toBe(1);
  expect(values.get('animal_store_commit_writes_bucket{le="100"}')).toBe(2);
  expect(values.get('animal_store_commit_writes_sum')).toBe(65);
  expect(values.get('animal_store_commit_duration_seconds_bucket{le="0.0001"}')).toBe(1);
  expect(values.get('animal_store_errors_total{reason="disk_full"}')).toBe(1);
  expect(values.get('animal_store_errors_total{reason="overloaded"}')).toBe(1);
  expect(values.get('animal_store_errors_total{reason="unexpected"}')).toBe(2);
  expect(values.get('animal_store_storage_available')).toBe(1);
  observer.onStorageState(new StorageFault('disk_full', 'full'));
  values = await valuesOf(metrics);
  expect(values.get('animal_store_storage_available')).toBe(0);
  observer.onStorageState(undefined);
  expect((await valuesOf(metrics)).get('animal_store_storage_available')).toBe(1);
});

test('numbers of the server and of the storage are read when the metrics are requested', async () => {
  let counted = 0;
  const metrics = open({
    serverStatistics: () => ({
      connections: 3,
      requestsInFlight: 2,
      refused: { busy: 7, rate: 0 },
    }),
    restartedThreads: () => 1,
    storageStatistics: () => ({
      pages: { hits: 10, misses: 1 },
      keys: { hits: 20, misses: 2 },
      waitingWrites: 4,
      busySeconds: { writer: 1.5 },
      connections: { busy: 1, idle: 2, waiting: 5 },
    }),
    countRecords: async () => (counted += 1),
  });
  await metrics.text();
  expect(Object.fromEntries(await valuesOf(metrics))).toMatchObject({
    [`animal_store_build_info{version="1.2.3",node="${process.version}",storage="memory"}`]: 1,
    animal_store_http_connections: 3,
    animal_store_http_requests_in_flight: 2,
    'animal_store_http_refused_requests_total{reason="busy"}': 7,
    'animal_store_http_refused_requests_total{reason="rate"}': 0,
    'animal_store_cache_requests_total{cache="pages",result="hit"}': 10,
    'animal_store_cache_requests_total{cache="pages",result="miss"}': 1,
    'animal_store_cache_requests_total{cache="keys",result="hit"}': 20,
    animal_store_waiting_writes: 4,
    'animal_store_database_connections{state="busy"}': 1,
    'animal_store_database_connections{state="idle"}': 2,
    animal_store_database_waiting_calls: 5,
    // Records are counted once a minute.
    animal_store_idempotency_records: 1,
    'animal_store_thread_busy_seconds_total{thread="writer"}': 1.5,
    'animal_store_thread_busy_seconds_total{thread="main"}': expect.any(Number),
    animal_store_thread_restarts_total: 1,
    process_resident_memory_bytes: expect.any(Number),
  });
});

test('a storage without numbers, and records that cannot be counted', async () => {
  const countRecords = () => Promise.reject(new Error('no'));
  const metrics = open({ countRecords });
  const values = await valuesOf(metrics);
  expect(values.get('animal_store_idempotency_records')).toBeNaN();
  const missing = /^animal_store_(waiting_writes|cache_requests|database)/;
  expect([...values.keys()].filter((name) => missing.test(name))).toEqual([]);
});

test('two servers in one process have metrics of their own', async () => {
  const [one, two] = [open(), open()];
  one.observer.onCommit({ writes: 1, ms: 1 });
  expect((await valuesOf(one)).get('animal_store_commit_writes_count')).toBe(1);
  expect((await valuesOf(two)).get('animal_store_commit_writes_count')).toBe(0);
});

test('the metrics of several threads are added, except for those of the process and of the state', async () => {
  const main = open();
  const threads = [open({ thread: 'worker 1' }), open({ thread: 'worker 2' })] as const;
  for (const [index, { observer }] of threads.entries()) {
    for (let count = 0; count <= index; count++) observer.onRequest(OUTCOME);
    observer.onCommit({ writes: 3, ms: 2 });
  }
  threads[1].observer.onRequest({ ...OUTCOME, status: 401 });
  threads[1].observer.onStorageState(new StorageFault('disk_full', 'the disk is full'));
  const snapshots = await Promise.all([main, ...threads].map((metrics) => metrics.snapshot()));
  const values = await valuesOf({ text: () => textOfThreads(structuredClone(snapshots)) });
  expect(values.get(`${DURATION}_count{method="GET",route="/v1/pets",status="200"}`)).toBe(3);
  expect(values.get(`${DURATION}_count{method="GET",route="/v1/pets",status="401"}`)).toBe(1);
  expect(values.get('animal_store_commit_writes_sum')).toBe(6);
  expect(values.get('animal_store_storage_available')).toBe(0);
  expect([...values].filter(([name]) => name.startsWith('animal_store_build_info'))).toEqual([
    [expect.any(String), 1],
  ]);
  const single = await valuesOf(main);
  expect(values.get('process_start_time_seconds')).toBe(single.get('process_start_time_seconds'));
  const missing = [...single.keys()].filter((name) => !name.startsWith('nodejs_') && !values.has(name));
  expect(missing).toEqual([]);
});
