import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { COMMANDS, ROOT } from './programs.ts';

const PROGRAM = join(ROOT, 'test/clients/client-on.js');

/** Runs the story of the client of the API, `test/clients/client-story.js`, on a runtime. Rejects when it fails. */
export async function checkClient(runtime: 'bun' | 'deno'): Promise<void> {
  await promisify(execFile)(process.execPath, [PROGRAM, ...COMMANDS[runtime]]);
}

/** Checks that the command says what to do instead of serving on a runtime. */
export async function checkCommand(runtime: 'bun' | 'deno'): Promise<void> {
  const [command, ...args] = COMMANDS[runtime];
  const env = { ...process.env, DATABASE_URL: 'memory:', PORT: '0' };
  const serving = promisify(execFile)(
    command as string,
    [...args, join(ROOT, 'bin/animal-store.js'), 'serve'],
    { env, timeout: 20_000 },
  );
  await assert.rejects(serving, ({ code, stderr }) => {
    assert.equal(code, 1);
    assert.match(stderr, /the server runs on Node\.js: here, mount createFetchHandler/);
    return true;
  });
}
