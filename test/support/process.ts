/** Runs the built command in its own process. `npm test` builds the command first. */

import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished, TestRunner } from 'vitest';
import { expectNoKeyInOutput, registerKey } from './canary.ts';
import { Client } from './client.ts';
import { until } from './clock.ts';

export const BIN: string = fileURLToPath(new URL('../../bin/animal-store.js', import.meta.url));

/** A valid API key for the variable `API_KEYS` of a service. */
export const OPERATOR_KEY = 'operator-key-of-32-characters-or-more';

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface RunningProcess {
  readonly child: ChildProcess;
  /** The output of the process so far. */
  readonly out: { stdout: string; stderr: string };
  readonly exit: Promise<Exit>;
}

export interface Service extends RunningProcess {
  readonly origin: string;
  /** A client that uses {@link OPERATOR_KEY}. */
  readonly client: Client;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly nodeArgs?: readonly string[];
  /** The text on standard input. By default, standard input is empty. */
  readonly input?: string;
  /** Whether standard input stays open, so that the test can write to `child.stdin`. */
  readonly isInputOpen?: boolean;
  /** The paths to which the standard streams are appended, instead of {@link RunningProcess.out}. */
  readonly stdout?: string | undefined;
  readonly stderr?: string | undefined;
}

/** A server may wait 10 seconds for requests in flight, and a busy machine takes longer, in milliseconds. */
const STOP_TIMEOUT = 60_000;

/** Functions that clean up, at the end of the file, what was started outside of a test. */
const atEndOfFile: (() => unknown)[] = [];

/** Calls a function at the end of the test or, outside of a test, such as in `beforeAll`, by {@link cleanUpFile}. */
export function atEnd(cleanUp: () => unknown): void {
  if (TestRunner.getCurrentTest() === undefined) atEndOfFile.push(cleanUp);
  else onTestFinished(async () => void (await cleanUp()));
}

export async function cleanUpFile(): Promise<void> {
  for (const cleanUp of atEndOfFile.splice(0).reverse()) await cleanUp();
}

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'animal-store-'));
  atEnd(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

/** Runs the built command as {@link runCommand} does. */
export function runBin(args: readonly string[], options: RunOptions = {}): RunningProcess {
  return runCommand(process.execPath, [...(options.nodeArgs ?? []), BIN, ...args], options);
}

/**
 * Runs any command. The process inherits only `PATH` and the cache of compiled modules from this environment, and is
 * killed at the end of the test or of the file. The test fails if the output contains an API key.
 */
export function runCommand(
  command: string,
  args: readonly string[],
  options: Omit<RunOptions, 'nodeArgs'>,
): RunningProcess {
  const { env = {}, cwd = temporaryFolder(), input, isInputOpen = false } = options;
  for (const key of env['API_KEYS']?.split(',') ?? []) registerKey(key.trim());
  const { PATH = '', NODE_COMPILE_CACHE = '' } = process.env;
  const [stdout, stderr] = [options.stdout, options.stderr].map((path) =>
    path === undefined ? 'pipe' : openSync(path, 'a'),
  );
  const child = spawn(command, args, {
    cwd,
    env: { PATH, NODE_COMPILE_CACHE, PORT: '0', ...env },
    stdio: [input === undefined && !isInputOpen ? 'ignore' : 'pipe', stdout, stderr],
  });
  for (const stream of [stdout, stderr]) if (typeof stream === 'number') closeSync(stream);
  child.stdin?.on('error', () => {});
  if (!isInputOpen) child.stdin?.end(input);
  const out = { stdout: '', stderr: '' };
  child.stdout?.setEncoding('utf8').on('data', (chunk) => {
    out.stdout += chunk;
  });
  child.stderr?.setEncoding('utf8').on('data', (chunk) => {
    out.stderr += chunk;
  });
  const exit = new Promise<Exit>((resolve) => {
    child.once('close', (code, signal) => resolve({ code, signal }));
  });
  atEnd(async () => {
    child.kill('SIGKILL');
    await exit;
    expectNoKeyInOutput(out.stdout, out.stderr);
  });
  return { child, out, exit };
}

/** Runs `serve`. Resolves when the server listens. */
export async function startService(options: RunOptions = {}): Promise<Service> {
  const running = runBin(['serve'], options);
  const { out, exit } = running;
  let hasEnded = false;
  void exit.then(() => {
    hasEnded = true;
  });
  const url = () => /^Listening on (\S+)\/v1$/m.exec(out.stdout)?.[1];
  await until(() => hasEnded || url() !== undefined);
  const origin = url();
  if (origin === undefined) throw new Error(`it did not start: ${out.stderr}`);
  const client = new Client(origin, OPERATOR_KEY);
  atEnd(() => client.close());
  return { ...running, origin, client };
}

/** Stops a process with SIGTERM, and with SIGKILL if it does not exit. */
export function stopService({ child, exit }: Pick<RunningProcess, 'child' | 'exit'>): Promise<Exit> {
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT);
  return exit.finally(() => clearTimeout(timer));
}
