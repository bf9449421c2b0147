import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');

/** Collects garbage at once, so that a test sees what is still in memory. */
export const collectGarbage: () => void = runInNewContext('gc');
