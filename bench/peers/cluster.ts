/** Runs a peer in WORKERS processes that listen on the same port. Prints its address, and stops on SIGTERM. */

import cluster from 'node:cluster';

const [exec = ''] = process.argv.slice(2);
const { WORKERS = '1' } = process.env;

cluster.setupPrimary({ exec, args: [], silent: true });
const listening = Array.from({ length: Number(WORKERS) }, () => {
  const { process: peer } = cluster.fork();
  peer.stderr?.pipe(process.stderr);
  return new Promise<string>((resolve) => {
    peer.stdout?.on('data', (text: Buffer) => {
      if (text.includes('listening')) resolve(String(text));
    });
  });
});
const [announcement] = await Promise.all(listening);
console.log(announcement);
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => {
    for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill('SIGTERM');
  });
}
