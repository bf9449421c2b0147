/** The log of the service, which pino writes to standard error. */

export { BUFFER_LIMIT } from './line-writer.ts';
export { createLog, type DestinationStream, type Logger, openLog } from './log.ts';
export { logObserver } from './observer.ts';
export { reportSuppressed } from './throttle.ts';
