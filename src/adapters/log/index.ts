/** The log of the service, which pino writes to standard error. */

export { BUFFER_LIMIT } from './line-writer.ts';
export { type DestinationStream, isTerminal, type Logger, logTo, openLog } from './log.ts';
export { logObserver } from './observer.ts';
export { reportSuppressed } from './throttle.ts';
