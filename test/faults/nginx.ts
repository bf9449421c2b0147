/** Runs nginx with `deploy/nginx.conf`. */

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { until } from '../support/clock.ts';
import { freePort } from '../support/free-port.ts';
import { temporaryFolder } from '../support/process.ts';

const SHIPPED = new URL('../../deploy/nginx.conf', import.meta.url);
const FOLDER = '/etc/letsencrypt/live/pets.example.org';

const TEMPORARY_PATHS = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  .map((name) => `${name}_temp_path ${name};`)
  .join(' ');

export const hasNginx: boolean = spawnSync('nginx', ['-v']).status === 0;

export interface Nginx {
  readonly origin: string;
  /** The messages of nginx since its start. */
  errors(): string;
}

export interface NginxOptions {
  /** The ports of one server or of two servers. */
  readonly servers: readonly number[];
  /** The paths of a certificate and its key. By default, nginx speaks HTTP. */
  readonly certificate?: { readonly cert: string; readonly key: string };
  /** The port that redirects to HTTPS, and the port that serves. Free ports by default. */
  readonly ports?: { readonly http: number; readonly https: number };
  /** Whether the limits of the file apply to each address. Default: true. */
  readonly isLimited?: boolean;
}

/** Starts nginx in front of servers. Resolves when nginx listens. nginx is stopped at the end of the test. */
export async function startNginx(options: NginxOptions): Promise<Nginx> {
  const { ports = { http: await freePort(), https: await freePort() }, certificate } = options;
  const folder = temporaryFolder();
  writeFileSync(
    join(folder, 'nginx.conf'),
    `daemon off; master_process off; pid nginx.pid; error_log errors notice;
events { worker_connections 8192; }
http { access_log off; ${TEMPORARY_PATHS}
set_real_ip_from 127.0.0.0/8; real_ip_header X-Test-Address;
${shippedSites({ ...options, ports })}
}`,
  );
  const args = ['-p', `${folder}/`, '-c', 'nginx.conf', '-e', 'errors'];
  const child = spawn('nginx', args, { stdio: 'inherit' });
  onTestFinished(() => stop(child));
  const errors = () => readFileSync(join(folder, 'errors'), 'utf8');
  await untilListening(child, ports.https, errors);
  return { origin: `http${certificate ? 's' : ''}://127.0.0.1:${ports.https}`, errors };
}

/** Returns the shipped configuration with the addresses of a test. Throws if the file has other addresses than expected. */
function shippedSites({ servers, certificate, ports, isLimited = true }: NginxOptions): string {
  let text = readFileSync(SHIPPED, 'utf8');
  const replace = (from: string | RegExp, to: string) => {
    if (text.search(from) === -1) throw new Error(`deploy/nginx.conf: expected ${from}`);
    text = text.replaceAll(from, to);
  };
  const [first, second] = servers;
  if (second !== undefined) {
    replace(/^ +server 127\.0\.0\.1:3000 .*$/gm, '');
    replace('# server 127.0.0.1:3001 ', `server 127.0.0.1:${first} `);
    replace('# server 127.0.0.1:3002 ', `server 127.0.0.1:${second} `);
  } else replace('127.0.0.1:3000', `127.0.0.1:${first}`);
  replace(/^ +listen \[::\]:.*$/gm, '');
  replace('listen 80;', `listen 127.0.0.1:${ports?.http};`);
  replace('listen 443 ssl;', `listen 127.0.0.1:${ports?.https}${certificate ? ' ssl' : ''};`);
  if (certificate === undefined) replace(/^ +ssl_.*$/gm, '');
  else {
    replace(`${FOLDER}/fullchain.pem`, certificate.cert);
    replace(`${FOLDER}/privkey.pem`, certificate.key);
  }
  if (!isLimited) replace(/^ +limit_(conn|req) .*$/gm, '');
  return text;
}

/** Resolves when a program accepts connections on the port. Rejects when it has ended. */
export async function untilListening(child: ChildProcess, port: number, output = () => ''): Promise<void> {
  await until(async () => {
    if (child.exitCode !== null) throw new Error(`${child.spawnfile} ended: ${output()}`);
    const socket = connect(port, '127.0.0.1');
    const isOpen = once(socket, 'connect').then(
      () => true,
      () => false,
    );
    return isOpen.finally(() => socket.destroy());
  }, 20);
}

/** Ends a program with SIGTERM. */
export async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGTERM');
  await exit;
}
