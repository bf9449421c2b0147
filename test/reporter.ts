/** Prints a last line that a script can read: `N passed, N failed`, and `, N skipped` if any were skipped. */

import type { Reporter, TestModule } from 'vitest/node';

/** An error outside a test (an import, a hook, an unhandled rejection) counts as one failure. */
export class SummaryLine implements Reporter {
  #line = '0 passed, 0 failed';

  /** The coverage table is printed after the run, so the line is printed when the process exits. */
  onInit(): void {
    process.once('exit', () => process.stdout.write(`${this.#line}\n`));
  }

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const suites = modules.flatMap((module) => [module, ...module.children.allSuites()]);
    const states = tests.map((test) => test.result().state);
    const passed = states.filter((state) => state === 'passed').length;
    const skipped = states.filter((state) => state === 'skipped').length;
    const outside = suites.flatMap((suite) => suite.errors()).length + unhandledErrors.length;
    this.#line = `${passed} passed, ${states.length - passed - skipped + outside} failed`;
    if (skipped > 0) this.#line += `, ${skipped} skipped`;
  }
}
