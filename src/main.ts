/**
 * The entry point of the program. Runs the command line, stops the command on SIGINT, SIGTERM or an uncaught error, and
 * sets the exit status.
 */

import { readFileSync } from 'node:fs';
import { consoleOf, runCli } from './adapters/cli/index.ts';
import { createCommands } from './composition/commands.ts';
import type { Service } from './composition/serve.ts';

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

/**
 * The maximum time for which pending writes to standard error keep the process alive after the command, in
 * milliseconds.
 */
const EXIT_TIMEOUT = 500;

/**
 * How long further signals are ignored after the first signal, in milliseconds. One Ctrl-C on `npm start` sends SIGINT
 * twice: the terminal sends it to every process, and npm forwards it to its child process.
 */
const REPEATED_SIGNAL = 1000;

const stop = new AbortController();
let stoppedAt = 0;
let hasUncaughtError = false;
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, onSignal);

/** Asks the command to stop. A further signal after {@link REPEATED_SIGNAL} ends the process immediately. */
function onSignal(signal: NodeJS.Signals): void {
  if (!stop.signal.aborted) {
    stoppedAt = performance.now();
    stop.abort();
  } else if (performance.now() - stoppedAt >= REPEATED_SIGNAL) {
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  }
}

/**
 * Logs an error that no code has caught, and stops the server gracefully, because the state of the process may be
 * inconsistent. The exit status is then 1. A second uncaught error ends the process immediately.
 */
function onUncaughtError(error: unknown, service: Service): void {
  service.logUncaughtError(error);
  if (hasUncaughtError) process.exit(1);
  hasUncaughtError = true;
  stop.abort();
}

const commands = createCommands(process.env, version);
const status = await runCli(process.argv.slice(2), {
  ...commands,
  version,
  console: consoleOf(process),
  signal: stop.signal,
  async startService(values) {
    const service = await commands.startService(values);
    // A rejected promise that no code handles causes the same event.
    process.on('uncaughtException', (error) => onUncaughtError(error, service));
    service.failure?.catch((error) => onUncaughtError(error, service));
    return service;
  },
});

// After a signal or an uncaught error, the process exits immediately, even if nobody has read its output.
if (stop.signal.aborted) process.exit(hasUncaughtError ? 1 : status);
process.exitCode = status;
setTimeout(() => process.exit(), EXIT_TIMEOUT).unref();
