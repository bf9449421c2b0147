/** The log of the service, which pino writes to standard error. */

export type { Logger } from 'pino';
export { flushLog, logTo, openLog } from './log.ts';
export { logObserver } from './observer.ts';
