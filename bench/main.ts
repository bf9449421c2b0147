/**
 * Runs every part of the benchmark, and prints tables on standard output. The figures of a complete run are written to
 * a file.
 */

import { relative } from 'node:path';
import { writeChart } from './chart.ts';
import { describeMachine, machineText } from './machine.ts';
import { type Options, type Part, readOptions } from './options.ts';
import {
  compare,
  compareTable,
  idempotencyTable,
  logLevelsTable,
  measureIdempotency,
  measureLogLevels,
  measureWorkers,
  workersTable,
} from './parts/compare.ts';
import { measureMemory, memoryTable } from './parts/memory.ts';
import { measurePostgres, postgresTable } from './parts/postgres.ts';
import { measureSlowFsync, slowFsyncTable } from './parts/slow-fsync.ts';
import { measureStart, startTable } from './parts/start.ts';
import { prepareProcess } from './processes.ts';
import { type Found, newResults, writeResults } from './results.ts';

interface Definition<T> {
  readonly title: string;
  measure(options: Options): Promise<T>;
  table(found: T): string;
}

const DEFINITIONS: { readonly [P in Part]: Definition<Found[P]> } = {
  compare: { title: 'Servers side by side', measure: compare, table: compareTable },
  fsync: {
    title: 'Reads during creates, with slower fsyncs',
    measure: measureSlowFsync,
    table: slowFsyncTable,
  },
  start: { title: 'animal-store, start time', measure: measureStart, table: startTable },
  memory: { title: 'animal-store, resident memory', measure: measureMemory, table: memoryTable },
  log: { title: 'animal-store by log level', measure: measureLogLevels, table: logLevelsTable },
  idempotency: {
    title: 'animal-store, creates with Idempotency-Key',
    measure: measureIdempotency,
    table: idempotencyTable,
  },
  postgres: { title: 'On PostgreSQL', measure: measurePostgres, table: postgresTable },
  workers: { title: 'animal-store, several threads', measure: measureWorkers, table: workersTable },
};

async function runPart<P extends Part>(part: P, options: Options, found: Partial<Found>): Promise<void> {
  const { title, measure, table } = DEFINITIONS[part];
  console.error(`${title} …`);
  const value = await measure(options);
  found[part] = value;
  console.log(`\n## ${title}\n\n${table(value)}`);
}

async function main(options: Options): Promise<void> {
  prepareProcess();
  const machine = describeMachine();
  console.log(machineText(machine));
  const results = newResults(machine, options);
  for (const part of options.parts) await runPart(part, options, results.found);
  if (!options.isWhole) return;
  for (const path of [writeResults(results), writeChart(results)]) {
    if (path !== undefined) console.log(`\nwritten: ${relative(process.cwd(), path)}`);
  }
}

try {
  await main(readOptions(process.argv.slice(2)));
} catch (error) {
  console.error(error);
  process.exitCode = 1;
}
// A failed part may have left timers and processes behind. The exit handler in `processes.ts` ends the processes.
process.exit();
