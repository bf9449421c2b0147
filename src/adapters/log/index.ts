/** The log of the service, which pino writes to standard error. */

export type { Logger } from 'pino';
export { logTo } from './log.ts';
export { logObserver } from './observer.ts';
export { flushLog, openLog } from './standard-error.ts';
