/** Runs the command line, stops the command on SIGINT, SIGTERM, SIGHUP or an uncaught error, and sets the exit status. */

import { readFileSync, writeSync } from 'node:fs';
import { consoleOf, runCli } from './adapters/cli/index.ts';
import { createCommands } from './composition/commands.ts';
import { readPipes } from './composition/config/settings.ts';
import type { Service } from './composition/serve.ts';

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

/** How long pending writes to standard error keep the process alive after the command, in milliseconds. */
const EXIT_TIMEOUT = 500;

/** In milliseconds. For this time, further signals are ignored: Ctrl-C can cause two, one from the terminal and one from npm. */
const REPEATED_SIGNAL = 1000;

const stop = new AbortController();
let stoppedAt = 0;
let hasUncaughtError = false;
let isServing = false;
// While this call waits for a pipe, a signal must still end the process, so the listeners are added afterwards.
readPipes(process.env);
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal);

function onSignal(signal: NodeJS.Signals): void {
  if (!stop.signal.aborted) {
    stoppedAt = performance.now();
    stop.abort();
  } else if (performance.now() - stoppedAt >= REPEATED_SIGNAL) {
    process.off(signal, onSignal);
    if (!isServing) writeSync(2, 'animal-store: interrupted; the outcome of any write is unknown\n');
    process.kill(process.pid, signal);
  }
}

/**
 * Logs the warnings and errors that Node.js would print as text. The first uncaught error stops the server, and the second one ends
 * the process.
 */
function logProcessEvents({ log }: Service): void {
  process.removeAllListeners('warning');
  process.on('warning', (err) => log.warn({ err }, 'warning of the runtime or of a package'));
  // An unhandled rejection causes the same event.
  process.on('uncaughtException', (err) => {
    log.fatal({ err }, 'uncaught error');
    if (hasUncaughtError) process.exit(1);
    hasUncaughtError = true;
    stop.abort();
  });
}

const console = consoleOf(process, stop.signal);
const commands = createCommands(process.env, version, (reason) => console.err(`animal-store: ${reason}\n`));
const status = await runCli(process.argv.slice(2), {
  ...commands,
  version,
  console,
  signal: stop.signal,
  async startService(values) {
    isServing = true;
    const service = await commands.startService(values);
    logProcessEvents(service);
    return service;
  },
});

// After a signal or an uncaught error, the process exits immediately, even if nobody has read its output.
if (stop.signal.aborted) process.exit(hasUncaughtError ? 1 : status);
process.exitCode = status;
setTimeout(() => process.exit(), EXIT_TIMEOUT).unref();
