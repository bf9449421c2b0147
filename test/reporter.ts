/**
 * Prints a last line that a script can read: `N passed, N failed`, and `, N skipped` if any were skipped. The lines
 * before it name each test that passed only when it was tried again, each fault of the run that fails no test, and the
 * number of tests that did not run, because their process ended or `--bail` ended the run.
 */

import type { Reporter, TestCase, TestModule, TestRunEndReason, Vitest } from 'vitest/node';
import { isAcceptedSkip } from './skips.ts';
import { BROKEN_PROMISE } from './support/retry.ts';

const CUT_OFF = 'CUT OFF: the run was ended before all tests had run';

/** A run with more flaky tests fails. */
const FLAKY_LIMIT = 2;

/** An error outside a test (an import, a hook, an unhandled rejection) counts as one failure. */
export class SummaryLine implements Reporter {
  /** The lines that are printed at the exit. The initial lines say that the run did not end. */
  #lines: readonly string[] = [CUT_OFF, '0 passed, 1 failed'];
  #hasEnded = false;
  /** Whether only tests with a given name run, so that the others are skipped on purpose. */
  #hasFilter = false;

  /** The coverage table is printed after the run, so the lines are printed when the process exits. */
  onInit({ config }: Vitest): void {
    this.#hasFilter = config.testNamePattern !== undefined;
    process.once('exit', () => {
      if (!this.#hasEnded) process.exitCode = 1;
      process.stdout.write(`${this.#lines.join('\n')}\n`);
    });
  }

  onTestRunEnd(
    modules: readonly TestModule[],
    unhandledErrors: readonly unknown[],
    reason: TestRunEndReason,
  ): void {
    this.#hasEnded = true;
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const suites = modules.flatMap((module) => [module, ...module.children.allSuites()]);
    const count = (state: string) => tests.filter((test) => test.result().state === state).length;
    const flaky = tests.filter((test) => test.diagnostic()?.flaky === true);
    const faults = [
      ...tests.flatMap((test) => (this.#hasFilter ? faultsOfPassed(test) : faultsOf(test))),
      ...tooMany(flaky.length),
    ];
    const outside = suites.flatMap((suite) => suite.errors()).length + unhandledErrors.length;
    const [passed, skipped, pending] = [count('passed'), count('skipped'), count('pending')];
    const failedTests = count('failed') + outside;
    // A run that `--bail` ends has a failed test.
    if (reason === 'interrupted' && failedTests === 0) faults.push(CUT_OFF);
    const failed = failedTests + faults.length;
    const notRun = pending > 0 ? [`NOT RUN ${pending} tests`] : [];
    const line = `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
    this.#lines = [...flaky.map(describeFlaky), ...faults, ...notRun, line];
    if (faults.length > 0) process.once('exit', () => Object.assign(process, { exitCode: 1 }));
  }
}

/** Returns the reasons why a test that has not failed fails the run. After a failure, its file can skip tests. */
function faultsOf(test: TestCase): string[] {
  const result = test.result();
  if (result.state === 'skipped' && process.env['CI'] && test.module.ok()) {
    const isAccepted = isAcceptedSkip(`|${test.project.name}| ${test.fullName} ${result.note ?? ''}`);
    return isAccepted ? [] : [`SKIPPED for no accepted reason ${nameOf(test)}`];
  }
  return faultsOfPassed(test);
}

/** A broken promise fails the run although the second try passed. */
function faultsOfPassed(test: TestCase): string[] {
  const result = test.result();
  const isBroken =
    result.state === 'passed' && result.errors?.some(({ message }) => message.includes(BROKEN_PROMISE));
  return isBroken ? [`FAILED at the first try ${nameOf(test)}`] : [];
}

function tooMany(flaky: number): string[] {
  return flaky > FLAKY_LIMIT ? [`FAILED: expected ${FLAKY_LIMIT} flaky tests at most, got ${flaky}`] : [];
}

function describeFlaky(test: TestCase): string {
  return `FLAKY ${nameOf(test)}: ${test.result().errors?.[0]?.message.split('\n')[0]}`;
}

function nameOf(test: TestCase): string {
  return `${test.module.relativeModuleId} > ${test.fullName}`;
}
