/** Runs every part of the benchmark, and prints tables on standard output. The figures of a complete run are written to a file. */

import { relative } from 'node:path';
import { writeChart } from './chart.ts';
import { describeMachine, machineText } from './machine.ts';
import { type Options, type Part, readOptions } from './options.ts';
import { CHANGES } from './parts/changes.ts';
import { COMPARE, IDEMPOTENCY, LOG_LEVELS } from './parts/compare.ts';
import { MEMORY } from './parts/memory.ts';
import { POSTGRES } from './parts/postgres.ts';
import { FSYNC } from './parts/slow-fsync.ts';
import { START } from './parts/start.ts';
import { prepareProcess } from './processes.ts';
import { type Definition, newResults, readResults, writeResults } from './results.ts';

const DEFINITIONS: Readonly<Record<Part, Definition<unknown>>> = {
  compare: COMPARE,
  fsync: FSYNC,
  start: START,
  memory: MEMORY,
  log: LOG_LEVELS,
  idempotency: IDEMPOTENCY,
  changes: CHANGES,
  postgres: POSTGRES,
};

async function runPart(part: Part, options: Options): Promise<unknown> {
  const { title, measure, table } = DEFINITIONS[part];
  console.error(`${title} …`);
  const found = await measure(options);
  console.log(`\n## ${title}\n\n${table(found)}`);
  return found;
}

async function main(options: Options): Promise<void> {
  prepareProcess();
  const machine = describeMachine();
  console.log(machineText(machine));
  const results = newResults(machine, options);
  for (const part of options.parts) Object.assign(results.found, { [part]: await runPart(part, options) });
  if (!options.isWhole) return;
  const file = writeResults(results);
  // The chart is drawn from the file, so that it has the same rounded figures.
  for (const path of [file, writeChart(readResults(file))]) {
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
