/** Runs the story of the client on another runtime: `node client-on.js RUNTIME [ARGUMENT…]`. Exits with 1 on a failure. */

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { withClientServers } from './client-servers.js';

const PROGRAM = fileURLToPath(new URL('client-program.js', import.meta.url));
const [runtime, ...args] = process.argv.slice(2);

await withClientServers((addresses) =>
  promisify(execFile)(runtime, [...args, PROGRAM, JSON.stringify(addresses)]),
);
