/** The thread that commits, so that the event loop never waits for the disk. */

import { parentPort, workerData } from 'node:worker_threads';
import { BatchRunner, type Unit } from './batch.ts';
import { openWriter } from './database.ts';

const db = openWriter(workerData as string);
const runner = new BatchRunner(db);

parentPort?.on('message', (units: readonly Unit[] | 'close') => {
  if (units !== 'close') {
    parentPort?.postMessage(runner.run(units));
    return;
  }
  db.close();
  parentPort?.close();
});
