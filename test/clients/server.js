/** Starts a separate server for a check: the built command, in memory, on a free port. */

import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const BIN = fileURLToPath(new URL('../../bin/animal-store.js', import.meta.url));

/** In milliseconds. */
const START_TIMEOUT = 100_000;

const children = new Set();
process.once('exit', () => {
  for (const child of children) child.kill();
});

/** @returns {Promise<{ origin: string, key: string, stop: () => Promise<void> }>} */
export async function startServer(environment = {}) {
  const key = randomBytes(24).toString('hex');
  const child = spawn(process.execPath, [BIN, 'serve'], {
    env: {
      ...process.env,
      HOST: '127.0.0.1',
      PORT: '0',
      DATABASE_URL: 'memory:',
      API_KEYS: key,
      LOG_LEVEL: 'error',
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.add(child);
  const exited = once(child, 'exit');
  const stop = async () => {
    child.kill('SIGTERM');
    await exited;
  };
  const lines = createInterface({ input: child.stdout, signal: AbortSignal.timeout(START_TIMEOUT) });
  for await (const line of lines) {
    const url = /^Listening on (http:\S+)\/v1$/.exec(line)?.[1];
    if (url !== undefined) return { origin: url, key, stop };
  }
  await stop();
  throw new Error(`the server did not listen, and ended with ${child.exitCode}: is it built?`);
}
