/**
 * Tests the fetch handler on Bun, Deno and workerd: the tests of the API over the servers of Bun and Deno, and the examples.
 * Prints each fault, and the number of tests. Exits with 1 on a fault.
 */

import { exampleChecks } from './examples.ts';
import { runSuite } from './suite.ts';

let passed = 0;
let failed = 0;

for (const runtime of ['bun', 'deno'] as const) {
  const result = await runSuite(runtime);
  console.log(`${runtime}: ${result.passed} tests passed`);
  for (const fault of result.faults) console.error(fault);
  passed += result.passed;
  failed += result.faults.length;
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
