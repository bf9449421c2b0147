/** The log of the service, which pino writes to standard error. */

export { isTerminal, type Logger, logTo, openLog } from './log.ts';
export { logObserver } from './observer.ts';
