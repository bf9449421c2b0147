/**
 * Tests Bun, Deno and workerd: the API over the servers of Bun and Deno, the command and the client on both, and the
 * examples. Prints each fault, and the number of tests. Exits with 1 on a fault.
 */

import { checkClient } from './client.ts';
import { exampleChecks } from './examples.ts';
import { runSuite, SUITES } from './suite.ts';

let passed = 0;
let failed = 0;

// Most of the tests wait, so both runtimes are tested at the same time.
await Promise.all((['bun', 'deno'] as const).map(testRuntime));
for (const [name, works] of Object.entries(exampleChecks())) await check(`examples/runtimes/${name}`, works);
console.log(`${passed} passed, ${failed} failed`);
// The route of Next.js keeps its store open.
process.exit(failed === 0 ? 0 : 1);

async function testRuntime(runtime: 'bun' | 'deno'): Promise<void> {
  for (const suite of SUITES) {
    const result = await runSuite(runtime, suite);
    console.log(`${runtime}: ${result.passed} tests of the ${suite} passed in ${result.seconds} s`);
    for (const fault of result.faults) console.error(fault);
    passed += result.passed;
    failed += result.faults.length;
  }
  await check(`the client on ${runtime}`, () => checkClient(runtime));
}

async function check(name: string, works: () => Promise<void>): Promise<void> {
  try {
    await works();
    passed += 1;
    console.log(`${name} works`);
  } catch (error) {
    failed += 1;
    console.error(`${name}:`, error);
  }
}
