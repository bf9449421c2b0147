/** Runs the tests of the API on a runtime, over its own server, and compares the failures with the known differences. */

import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { DIFFERENCES } from './differences.ts';
import { COMMANDS, end, ROOT, start } from './programs.ts';

/** The number of tests that passed at least when the list of files was made. Fewer mean that files were not found. */
const LEAST = 400;

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

export async function runSuite(runtime: 'bun' | 'deno'): Promise<SuiteResult> {
  const folder = mkdtempSync(join(tmpdir(), 'animal-store-runtimes-'));
  const file = join(folder, 'report.json');
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs');
  const config = 'test/runtimes/vitest.config.ts';
  const reporter = ['--reporter=json', `--outputFile=${file}`, '--dangerouslyIgnoreUnhandledErrors'];
  const program = start([...COMMANDS[runtime], vitest, 'run', '--config', config, ...reporter], {
    cwd: ROOT,
  });
  try {
    await once(program.child, 'exit');
    return compare(runtime, JSON.parse(readFileSync(file, 'utf8')) as Report);
  } catch (error) {
    return { passed: 0, faults: [`${runtime}: ${error}\n${program.output()}`] };
  } finally {
    await end(program);
    rmSync(folder, { recursive: true });
  }
}

function compare(runtime: 'bun' | 'deno', { testResults }: Report): SuiteResult {
  const known = new Set(DIFFERENCES[runtime]);
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
  if (passed < LEAST) faults.push(`${runtime}: only ${passed} tests passed`);
  return { passed, faults };
}
