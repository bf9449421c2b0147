/**
 * Loaded into a server with `--import`. On the first SIGUSR2 it starts to count the bytes that scavenges promote to the old
 * generation, and on the second it writes their number to the file in `PROMOTIONS_FILE`.
 */

import { writeFileSync } from 'node:fs';
import { GCProfiler, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isMainThread } from 'node:worker_threads';

type Heap = ReturnType<GCProfiler['stop']>['statistics'][number]['beforeGC'];

const profiler = new GCProfiler();
let isCounting = false;

function oldBytes({ heapSpaceStatistics }: Heap): number {
  return heapSpaceStatistics
    .filter(({ spaceName }) => spaceName === 'old_space')
    .reduce((sum, { spaceUsedSize }) => sum + spaceUsedSize, 0);
}

if (isMainThread && process.argv.includes('serve')) {
  process.on('SIGUSR2', () => {
    if (!isCounting) {
      // A major collection promotes the requests in flight. They must not keep later ones alive.
      setFlagsFromString('--expose-gc');
      (runInNewContext('gc') as () => void)();
      profiler.start();
      isCounting = true;
      return;
    }
    const promoted = profiler
      .stop()
      .statistics.filter(({ gcType }) => gcType === 'Scavenge')
      .reduce((sum, { beforeGC, afterGC }) => sum + oldBytes(afterGC) - oldBytes(beforeGC), 0);
    writeFileSync(process.env['PROMOTIONS_FILE'] as string, String(promoted));
  });
}
