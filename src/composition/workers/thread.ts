/** The program of a thread that handles requests. The class `WorkerPool` of the main thread starts it. */

import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { reportSuppressed } from '../../adapters/log/index.ts';
import { METRICS_TYPE } from '../../adapters/metrics/index.ts';
import type { StorageFault } from '../../application/ports/storage-fault.ts';
import type { Config } from '../config.ts';
import { openParts } from '../container.ts';
import { databaseAt } from '../databases/index.ts';
import { Calls } from './calls.ts';
import type { ThreadData } from './thread-data.ts';
import { ThreadLog } from './thread-log.ts';

const { version, server, logUnderway, ...data } = workerData as ThreadData;
const config: Config = { ...data.config, database: databaseAt(data.config.database) };
const log = new ThreadLog(logUnderway, (lines) => calls.send('log', lines));
const calls: Calls = new Calls(parentPort as MessagePort, {
  listen: async (port: number) => (await opened).server.listen(port, config.host),
  check: async () => (await opened).check(),
  metrics: async () => (await opened).metrics.snapshot(),
  async stop(timeout: number) {
    await opened.then((parts) => parts.close(timeout)).catch(() => {});
    reportSuppressed();
    log.flush();
  },
});

const opened = openParts(config, version, {
  name: `worker ${server.index + 1}`,
  server,
  sharing: {
    threads: server.count,
    sendPort: (port) => calls.send('attachPort', port, [port]),
  },
  log,
  metrics: { contentType: METRICS_TYPE, text: () => calls.call('metrics') },
  check: () => calls.call('check'),
  observer: {
    onStorageState(fault: StorageFault | undefined) {
      const sent = fault && { reason: fault.reason, message: fault.message, cause: String(fault.cause) };
      calls.send('storageState', sent);
    },
    onWarning() {},
  },
});
// `listen` rejects with the error.
opened.catch(() => {});
