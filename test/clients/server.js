/** Starts a separate server for a check, until its end: the built command, in memory, on a free port. */

import { randomBytes } from 'node:crypto';
import { startService, stopService } from '../support/process.ts';

/** @returns {Promise<{ origin: string, key: string, stop: () => Promise<unknown> }>} */
export async function startServer(environment = {}) {
  const key = randomBytes(24).toString('hex');
  const env = { DATABASE_URL: 'memory:', API_KEYS: key, LOG_LEVEL: 'error', ...environment };
  const service = await startService({ env });
  return { origin: service.origin, key, stop: () => stopService(service) };
}
