/** Tests the examples and the client on Bun, Deno and workerd. Prints each fault, and the number of tests. Exits with 1 on a fault. */

import { checkClient, checkCommand } from './client.ts';
import { exampleChecks } from './examples.ts';

let passed = 0;
let failed = 0;

for (const runtime of ['bun', 'deno'] as const) {
  await check(`the client on ${runtime}`, () => checkClient(runtime));
  await check(`the message of the command on ${runtime}`, () => checkCommand(runtime));
}
for (const [name, works] of Object.entries(exampleChecks())) await check(`examples/runtimes/${name}`, works);
console.log(`${passed} passed, ${failed} failed`);
// The route of Next.js keeps its store open.
process.exit(failed === 0 ? 0 : 1);

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
