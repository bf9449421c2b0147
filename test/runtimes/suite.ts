/** Runs tests on a runtime, over its own server, and compares the failures with the known differences. */

import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { COMMAND_DIFFERENCES, DIFFERENCES, type Difference } from './differences.ts';
import { COMMANDS, end, ROOT, start } from './programs.ts';

/** The numbers of tests that passed at least when the lists of files were made. Fewer mean that files were not found. */
const LEAST = { api: 400, command: 20 };

export interface SuiteResult {
  readonly passed: number;
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

/** Runs the tests of the API. The tests themselves run on the runtime. */
export function runApiSuite(runtime: 'bun' | 'deno'): Promise<SuiteResult> {
  const expected = { differences: DIFFERENCES[runtime], least: LEAST.api };
  return runSuite(runtime, COMMANDS[runtime], 'test/runtimes/vitest.config.ts', expected);
}

/** Runs the tests of the command: its servers and commands run on the runtime. */
export async function runCommandSuite(runtime: 'bun' | 'deno'): Promise<SuiteResult> {
  const folder = mkdtempSync(join(tmpdir(), 'animal-store-runtimes-'));
  const program = join(folder, runtime);
  const [command, ...args] = COMMANDS[runtime];
  writeFileSync(program, `#!/bin/sh\nexec '${command}' ${args.join(' ')} "$@"\n`, { mode: 0o755 });
  const expected = { differences: COMMAND_DIFFERENCES[runtime], least: LEAST.command };
  const config = 'test/runtimes/command.vitest.config.ts';
  try {
    return await runSuite(runtime, [process.execPath], config, expected, { TEST_RUNTIME: program });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

interface Expected {
  readonly differences: readonly Difference[];
  /** The number of tests that pass at least. */
  readonly least: number;
}

async function runSuite(
  runtime: 'bun' | 'deno',
  command: readonly string[],
  config: string,
  expected: Expected,
  env: NodeJS.ProcessEnv = {},
): Promise<SuiteResult> {
  const folder = mkdtempSync(join(tmpdir(), 'animal-store-runtimes-'));
  const file = join(folder, 'report.json');
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs');
  const reporter = ['--reporter=json', `--outputFile=${file}`, '--dangerouslyIgnoreUnhandledErrors'];
  const program = start([...command, vitest, 'run', '--config', config, ...reporter], {
    cwd: ROOT,
    env,
  });
  try {
    await once(program.child, 'exit');
    return compare(runtime, expected, JSON.parse(readFileSync(file, 'utf8')) as Report);
  } catch (error) {
    return { passed: 0, faults: [`${runtime}: ${error}\n${program.output()}`] };
  } finally {
    await end(program);
    rmSync(folder, { recursive: true });
  }
}

function compare(
  runtime: 'bun' | 'deno',
  { differences, least }: Expected,
  { testResults }: Report,
): SuiteResult {
  const known = new Set(differences);
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
  if (passed < least) faults.push(`${runtime}: only ${passed} tests passed`);
  return { passed, faults };
}
