/**
 * Tests Bun, Deno and workerd: the API over the servers of Bun and Deno, the command on both, and the examples.
 * Prints each fault, and the number of tests. Exits with 1 on a fault.
 */

import { exampleChecks } from './examples.ts';
import { runApiSuite, runCommandSuite } from './suite.ts';

let passed = 0;
let failed = 0;

for (const runtime of ['bun', 'deno'] as const) {
  for (const [what, run] of [
    ['the API', runApiSuite],
    ['the command', runCommandSuite],
  ] as const) {
    const result = await run(runtime);
    console.log(`${runtime}: ${result.passed} tests of ${what} passed`);
    for (const fault of result.faults) console.error(fault);
    passed += result.passed;
    failed += result.faults.length;
  }
}
for (const [name, check] of Object.entries(exampleChecks())) {
  try {
    await check();
    passed += 1;
    console.log(`examples/runtimes/${name} works`);
  } catch (error) {
    failed += 1;
    console.error(`examples/runtimes/${name}:`, error);
  }
}
console.log(`${passed} passed, ${failed} failed`);
// The route of Next.js keeps its store open.
process.exit(failed === 0 ? 0 : 1);
