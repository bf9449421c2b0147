/** The log of the service, which pino writes to standard error. */

export { createLog, type Logger } from './log.ts';
export { logObserver } from './observer.ts';
