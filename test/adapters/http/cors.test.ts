/** What `test/composition/config.test.ts` does not show of origins. */

import { expect, test } from 'vitest';
import { isOrigin } from '../../../src/adapters/http/index.ts';

test.each([
  ['http://localhost:8080', true],
  ['https://shop.example', true],
  ['ionic://localhost:8100', true],
  ['http://[::1]:3000', true],
  ['xhttp://shop.example:80', true],
  ['httpsx://shop.example:443', true],
  ['http://shop.example:80', false],
  ['http://999.1.1.1', false],
  ['https://Shop.example', false],
  [7, false],
])('whether %j is an origin: %j', (text, expected) => {
  expect(isOrigin(text)).toBe(expected);
});
