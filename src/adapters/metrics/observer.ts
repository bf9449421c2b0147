/** The metrics of commits, errors and changes of the state of the storage. */

import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { Observer } from '../../application/ports/observer.ts';
import { STORAGE_FAULT_REASONS, storageFaultReason } from '../../application/ports/storage-fault.ts';
import { asAnimalStoreError } from '../../domain/errors.ts';

/** The upper bounds of the buckets, in seconds, and in creates. */
const COMMIT_BOUNDS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];
const WRITES_BOUNDS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];

/** A counter that starts at 0 shows its first increase. */
const ERROR_REASONS: readonly string[] = [
  ...STORAGE_FAULT_REASONS,
  ...['overloaded', 'storage_unavailable', 'internal_error', 'unexpected'],
];

export function metricsObserver(registry: Registry): Observer {
  const registers = [registry];
  const commits = new Histogram({
    name: 'animal_store_commit_duration_seconds',
    help: 'Time until a transaction was durable',
    buckets: COMMIT_BOUNDS,
    registers,
  });
  const writes = new Histogram({
    name: 'animal_store_commit_writes',
    help: 'Number of writes in a transaction',
    buckets: WRITES_BOUNDS,
    registers,
  });
  const errors = new Counter({
    name: 'animal_store_errors_total',
    help: 'Responses with status 500 or above',
    labelNames: ['reason'],
    registers,
  });
  for (const reason of ERROR_REASONS) errors.inc({ reason }, 0);
  const available = new Gauge({
    name: 'animal_store_storage_available',
    help: 'Whether the storage has no known fault: 1 or 0',
    registers,
  });
  available.set(1);
  return {
    onError: (error) =>
      errors.inc({ reason: storageFaultReason(error) ?? asAnimalStoreError(error)?.code ?? 'unexpected' }),
    onCommit: (commit) => {
      commits.observe(commit.ms / 1000);
      writes.observe(commit.writes);
    },
    onStorageState: (fault) => available.set(fault === undefined ? 1 : 0),
  };
}
