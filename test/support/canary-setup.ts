/**
 * Runs around each file of tests. Each API key that a test sends over a socket is registered, and each byte that a test
 * receives from a socket is checked: a test fails if a response contains an API key.
 */

import { afterAll, afterEach } from 'vitest';
import { expectNoNotedKeys, forgetKeys, watchSockets } from './canary.ts';

watchSockets();
afterEach(expectNoNotedKeys);
afterAll(() => {
  expectNoNotedKeys();
  forgetKeys();
});
