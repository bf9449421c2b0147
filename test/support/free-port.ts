import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Returns a port that the operating system does not give to clients: a stopped server must find its port free. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 1000; attempt += 1) {
    const port = randomInt(20_000, 32_000);
    const probe = createServer().listen(port, '127.0.0.1');
    const isFree = await once(probe, 'listening').then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    await new Promise((resolve) => probe.close(resolve));
    return port;
  }
  throw new Error('tried 1,000 ports, and none was free');
}
