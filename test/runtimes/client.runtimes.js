import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { withClientServers } from '../clients/client-servers.js';
import { COMMANDS, ROOT } from './programs.ts';

const PROGRAM = join(ROOT, 'test/clients/client-program.js');
const execute = promisify(execFile);

describe.each([
  ['bun', COMMANDS.bun],
  ['deno', COMMANDS.deno],
])('on %s', (_runtime, [command = '', ...args]) => {
  test('the client runs its story, test/clients/client-story.js', () =>
    withClientServers((addresses) => execute(command, [...args, PROGRAM, JSON.stringify(addresses)])));

  test('the command says what to do instead of serving', async () => {
    const env = { ...process.env, DATABASE_URL: 'memory:', PORT: '0' };
    const serving = execute(command, [...args, join(ROOT, 'bin/animal-store.js'), 'serve'], { env });
    await expect(serving).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining('the server runs on Node.js: here, mount createFetchHandler'),
    });
  });
});
