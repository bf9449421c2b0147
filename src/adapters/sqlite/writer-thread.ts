/** The thread that commits, so that the event loop never waits for the disk. */

import { parentPort, workerData } from 'node:worker_threads';
import { BatchRunner, type Value } from './batch.ts';
import { openWriter } from './database.ts';
import { packOutcomes, unpackUnits } from './message.ts';

const db = openWriter(workerData as string);
const runner = new BatchRunner(db);

parentPort?.on('message', (message: readonly Value[] | 'close') => {
  if (message !== 'close') {
    parentPort?.postMessage(packOutcomes(runner.run(unpackUnits(message))));
    return;
  }
  db.close();
  parentPort?.close();
});
