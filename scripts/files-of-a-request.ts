/**
 * Lists the files of `src` whose code runs for each POST request with an `Idempotency-Key`, in either thread of `animal-store
 * serve` on SQLite. Usage: `npm run build`, then `node scripts/files-of-a-request.ts`. A file is listed if 100 further requests add
 * at least 100 calls of one of its functions.
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { EXAMPLE_JSON } from '../src/adapters/cli/pet-attributes.ts';

const ROOT = join(import.meta.dirname, '..');
const DIST = pathToFileURL(`${join(ROOT, 'dist')}/`).href;
const FURTHER = 100;

/** The content of a file that Node.js writes when a thread ends, if `NODE_V8_COVERAGE` is set. */
interface Coverage {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly { readonly ranges: readonly { startOffset: number; count: number }[] }[];
  }[];
}

/** Sends requests to a new server. Resolves with the number of calls of each function. A key is a function's file and position. */
async function callsOf(requests: number): Promise<Map<string, number>> {
  const folder = mkdtempSync(join(tmpdir(), 'animal-store-files-'));
  const coverage = join(folder, 'coverage');
  const server = spawn(process.execPath, [join(ROOT, 'bin/animal-store.js'), 'serve'], {
    env: {
      PATH: process.env['PATH'],
      DATABASE_URL: `sqlite:${join(folder, 'pets.db')}`,
      NODE_V8_COVERAGE: coverage,
      LOG_LEVEL: 'silent',
      PORT: '0',
    },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let out = '';
  for await (const text of server.stdout.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
    out += text;
    if (/^(?:To create|Create a pet)/m.test(out)) break;
  }
  const url = /^Listening on (\S+)$/m.exec(out)?.[1];
  const key = /^ {2}(pets_\w+)$/m.exec(out)?.[1];
  for (let request = 0; request < requests; request += 1) {
    const headers = {
      Authorization: `Bearer ${key}`,
      'Content-Type': 'application/json',
      'Idempotency-Key': `${request}`,
    };
    const response = await fetch(`${url}/pets`, { method: 'POST', headers, body: EXAMPLE_JSON });
    if (response.status !== 201) throw new Error(`POST: status ${response.status}`);
    await response.arrayBuffer();
  }
  server.kill('SIGTERM');
  await once(server, 'exit');
  const calls = new Map<string, number>();
  for (const file of readdirSync(coverage)) {
    const { result } = JSON.parse(readFileSync(join(coverage, file), 'utf8')) as Coverage;
    for (const { url, functions } of result.filter(({ url }) => url.startsWith(DIST))) {
      for (const { ranges } of functions) {
        const [{ startOffset, count } = { startOffset: 0, count: 0 }] = ranges;
        const name = `${url.slice(DIST.length)}:${startOffset}`;
        calls.set(name, (calls.get(name) ?? 0) + count);
      }
    }
  }
  rmSync(folder, { recursive: true });
  return calls;
}

const [few, many] = [await callsOf(1), await callsOf(1 + FURTHER)];
const running = [...many].filter(([name, count]) => count - (few.get(name) ?? 0) >= FURTHER);
const files = new Set(running.map(([name]) => name.replace(/\.js:\d+$/, '.ts')));
console.log(`${files.size} files:\n${[...files].sort().join('\n')}`);
