/** Runs nginx with the configuration in `docs/operations.md`. */

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { newFolder } from './server.ts';

const MANUAL = new URL('../../docs/operations.md', import.meta.url);

const TEMPORARY_PATHS = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  .map((name) => `${name}_temp_path ${name};`)
  .join(' ');

export const hasNginx: boolean = spawnSync('nginx', ['-v']).status === 0;

export interface Nginx {
  readonly origin: string;
  /** The messages of nginx since its start. */
  errors(): string;
}

/** Starts nginx in front of the servers on the given ports. nginx is stopped at the end of the test. */
export async function startNginx(ports: readonly [number, number]): Promise<Nginx> {
  const folder = newFolder();
  const port = await freePort();
  writeFileSync(
    join(folder, 'nginx.conf'),
    `daemon off; master_process off; pid nginx.pid; error_log errors notice;
events { worker_connections 1024; }
http { access_log off; ${TEMPORARY_PATHS}
${manualConfiguration(port, ports)}
}`,
  );
  const child = spawn('nginx', ['-p', `${folder}/`, '-c', 'nginx.conf', '-e', 'errors'], {
    stdio: 'inherit',
  });
  onTestFinished(() => stop(child));
  const origin = `http://127.0.0.1:${port}`;
  while (!(await isListening(origin))) {
    if (child.exitCode !== null)
      throw new Error(`nginx ended: ${readFileSync(join(folder, 'errors'), 'utf8')}`);
    await sleep(20);
  }
  return { origin, errors: () => readFileSync(join(folder, 'errors'), 'utf8') };
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

/** Returns the configuration of the manual with other ports. Throws if the manual has other ports than expected. */
function manualConfiguration(port: number, [first, second]: readonly [number, number]): string {
  const text = /```nginx\n(.*?)```/s.exec(readFileSync(MANUAL, 'utf8'))?.[1] ?? '';
  const replacements = [
    ['listen 8080;', `listen 127.0.0.1:${port};`],
    ['127.0.0.1:3001', `127.0.0.1:${first}`],
    ['127.0.0.1:3002', `127.0.0.1:${second}`],
  ] as const;
  return replacements.reduce((result, [from, to]) => {
    if (!result.includes(from)) throw new Error(`docs/operations.md: expected ${from}`);
    return result.replace(from, to);
  }, text);
}

async function isListening(origin: string): Promise<boolean> {
  return fetch(`${origin}/livez`).then(
    ({ status }) => status === 200,
    () => false,
  );
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGTERM');
  await exit;
}
