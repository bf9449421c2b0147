import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { COMMANDS, ROOT } from './programs.ts';

const PROGRAM = join(ROOT, 'test/clients/client-on.js');

/** Runs the story of the client of the API, `test/clients/client-story.js`, on a runtime. Rejects when it fails. */
export async function checkClient(runtime: 'bun' | 'deno'): Promise<void> {
  await promisify(execFile)(process.execPath, [PROGRAM, ...COMMANDS[runtime]]);
}
