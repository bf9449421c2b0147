/** Runs nginx with the servers in `docs/upgrade.md` and the location in `deploy/nginx.conf`. */

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { temporaryFolder } from '../support/process.ts';

const MANUAL = new URL('../../docs/upgrade.md', import.meta.url);
const DEPLOYED = new URL('../../deploy/nginx.conf', import.meta.url);

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
  const port = await freePort();
  const errors = await runNginx(temporaryFolder(), manualConfiguration(port, ports), port);
  return { origin: `http://127.0.0.1:${port}`, errors };
}

/**
 * Runs nginx with a configuration of sites until the end of the test. Resolves when nginx listens on the port, with a
 * function that returns the messages of nginx.
 */
export async function runNginx(folder: string, sites: string, port: number): Promise<Nginx['errors']> {
  writeFileSync(
    join(folder, 'nginx.conf'),
    `daemon off; master_process off; pid nginx.pid; error_log errors notice;
events { worker_connections 1024; }
http { access_log off; ${TEMPORARY_PATHS}
${sites}
}`,
  );
  const child = spawn('nginx', ['-p', `${folder}/`, '-c', 'nginx.conf', '-e', 'errors'], {
    stdio: 'inherit',
  });
  onTestFinished(() => stop(child));
  const errors = () => readFileSync(join(folder, 'errors'), 'utf8');
  while (!(await isListening(port))) {
    if (child.exitCode !== null) throw new Error(`nginx ended: ${errors()}`);
    await sleep(20);
  }
  return errors;
}

/** Returns the upstream of the manual with other ports, and a server without TLS. Throws if the manual has other ports than expected. */
function manualConfiguration(port: number, [first, second]: readonly [number, number]): string {
  const upstream = /```nginx\n(.*?)```/s.exec(readFileSync(MANUAL, 'utf8'))?.[1] ?? '';
  const location = /^ {2}location \/ \{\n {4}proxy_pass .*?^ {2}\}$/ms.exec(
    readFileSync(DEPLOYED, 'utf8'),
  )?.[0];
  if (location === undefined) throw new Error('deploy/nginx.conf: expected a location that passes requests');
  const replacements = [
    ['127.0.0.1:3001', `127.0.0.1:${first}`],
    ['127.0.0.1:3002', `127.0.0.1:${second}`],
  ] as const;
  const servers = replacements.reduce((result, [from, to]) => {
    if (!result.includes(from)) throw new Error(`docs/upgrade.md: expected ${from}`);
    return result.replace(from, to);
  }, upstream);
  return `${servers}\nserver {\n  listen 127.0.0.1:${port};\n${location}\n}`;
}

/** Whether a program accepts connections on the port. */
export async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  const isOpen = await once(socket, 'connect').then(
    () => true,
    () => false,
  );
  socket.destroy();
  return isOpen;
}

/** Ends a program with SIGTERM. */
export async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGTERM');
  await exit;
}
