/** Runs tests on a runtime, over its own server, and compares the failures with the known differences. */

import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { DIFFERENCES } from './differences.ts';
import { COMMANDS, end, ROOT, start } from './programs.ts';

/** The projects of the configuration of Vitest: the API, the command, and what the server of the runtime decides. */
export const SUITES = ['api', 'command', 'server'] as const;
export type Suite = (typeof SUITES)[number];

/** The numbers of tests that passed at least when the lists of files were made. Fewer mean that files were not found. */
const LEAST: Readonly<Record<Suite, number>> = { api: 400, command: 28, server: 16 };

/** The extent of the tests of faults. */
const EXTENT = {
  FAULTS_ROUNDS: '2',
  FAULTS_MESSAGES: '1600',
  FAULTS_CROWD: '1000',
  FAULTS_IDLE: '1000',
  FAULTS_SLOW: '200',
};

export interface SuiteResult {
  readonly passed: number;
  readonly seconds: number;
  /** What is wrong, one text for each fault. */
  readonly faults: readonly string[];
}

interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly message: string;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

/**
 * Runs the tests of a suite. The tests of the API themselves run on the runtime. The other tests run on Node.js, and their
 * servers and commands run on the runtime.
 */
export async function runSuite(runtime: 'bun' | 'deno', suite: Suite): Promise<SuiteResult> {
  const folder = mkdtempSync(join(tmpdir(), 'animal-store-runtimes-'));
  const file = join(folder, 'report.json');
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs');
  const reporter = ['--reporter=json', `--outputFile=${file}`, '--dangerouslyIgnoreUnhandledErrors'];
  const options = ['run', '--config', 'test/runtimes/vitest.config.ts', '--project', suite, ...reporter];
  const isOnRuntime = suite === 'api';
  const command = isOnRuntime ? COMMANDS[runtime] : [process.execPath];
  const env = isOnRuntime ? {} : environment(runtime, folder);
  const startedAt = performance.now();
  const program = start([...command, vitest, ...options], { cwd: ROOT, env });
  try {
    await once(program.child, 'exit');
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    const { testResults } = JSON.parse(readFileSync(file, 'utf8')) as Report;
    return { ...compare(runtime, suite, testResults), seconds };
  } catch (error) {
    return { passed: 0, seconds: 0, faults: [`${runtime}: ${error}\n${program.output()}`] };
  } finally {
    await end(program);
    rmSync(folder, { recursive: true });
  }
}

/** Returns the environment of tests that run the command on a runtime, with a program in the folder. */
function environment(runtime: 'bun' | 'deno', folder: string): NodeJS.ProcessEnv {
  const program = join(folder, runtime);
  const [command, ...args] = COMMANDS[runtime];
  writeFileSync(program, `#!/bin/sh\nexec '${command}' ${args.join(' ')} "$@"\n`, { mode: 0o755 });
  // The server of Bun does not support pipelines.
  return { TEST_RUNTIME: program, ...EXTENT, ...(runtime === 'bun' && { FAULTS_PIPELINED: '1' }) };
}

function compare(
  runtime: 'bun' | 'deno',
  suite: Suite,
  testResults: Report['testResults'],
): Omit<SuiteResult, 'seconds'> {
  const known = new Set(DIFFERENCES[runtime][suite]);
  const unseen = new Set(known);
  const faults: string[] = [];
  let passed = 0;
  for (const { name, message, assertionResults } of testResults) {
    if (assertionResults.length === 0) faults.push(`${runtime}: ${name}: ${message}`);
    for (const { fullName, status, failureMessages } of assertionResults) {
      const test = `${relative(ROOT, name)} ${fullName}`;
      if (status === 'passed') passed += 1;
      if (status !== 'failed') continue;
      const difference = [...known].find(({ tests }) => tests.test(test));
      if (difference === undefined) faults.push(`${runtime}: ${test}\n${failureMessages.join('\n')}`);
      else unseen.delete(difference);
    }
  }
  for (const { tests, isRare = false } of unseen) {
    if (!isRare) faults.push(`${runtime}: no test that matches ${tests} fails any longer`);
  }
  if (passed < LEAST[suite]) faults.push(`${runtime}: only ${passed} tests of the ${suite} passed`);
  return { passed, faults };
}
