/** A password in a URL or host of the configuration is refused, and is not printed. */

import { expect, test } from 'vitest';
import { Workspace } from './workspace.ts';

test.each([
  ['serve', 'PUBLIC_URL', 'https://me:hunter2@pets.example'],
  ['serve', 'PUBLIC_URL', 'https://me:hunter2@pets.example:port'],
  ['serve', 'CORS_ORIGIN', 'https://me:hunter2@pets.example'],
  ['serve', 'HOST', 'me:hunter2@127.0.0.1'],
  ['openapi', 'PUBLIC_URL', 'https://me:hunter2@pets.example'],
  ['openapi', 'HOST', 'me:hunter2@127.0.0.1'],
])('%s exits with a usage error if %s=%s', async (command, name, value) => {
  const { status, out, err } = await new Workspace().run([command], '', { [name]: value });
  expect({ status, out }).toEqual({ status: 2, out: '' });
  expect(err).toMatch(
    new RegExp(`^animal-store: ${name}: expected .*, got a value that may hold a password\\n$`),
  );
});
