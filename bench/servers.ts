/** The servers to compare, and how to start and stop them. */

import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { end, launch, workDir } from './processes.ts';

const ROOT = join(import.meta.dirname, '..');
const START_TIMEOUT = 120_000;
const ADDRESS = /http:\/\/127\.0\.0\.1:(\d+)/;

export const LIMIT = 'node-http';
export const OURS = 'animal-store';

/** The name of each server, and the arguments of Node.js that start it. */
const SERVERS = {
  'node-http': { title: 'node:http, constant', command: ['bench/peers/node-http.ts'] },
  fastify: { title: 'Fastify 5', command: ['bench/peers/fastify.ts'] },
  'animal-store': { title: 'animal-store', command: startArguments() as readonly string[] },
} as const;

export type ServerName = keyof typeof SERVERS;
export const SERVER_NAMES = Object.keys(SERVERS) as readonly ServerName[];

export function titleOf(name: ServerName): string {
  return SERVERS[name].title;
}

export interface StartOptions {
  /** The value of `DATABASE_URL`. */
  readonly url: string;
  readonly logLevel?: string | undefined;
  readonly environment?: Readonly<Record<string, string>> | undefined;
}

export interface RunningServer {
  readonly name: ServerName;
  readonly origin: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/** Returns the arguments that `npm start` passes to Node.js, except for the option that reads `.env`. */
function startArguments(): readonly string[] {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  return scripts.start.replace(/^exec node (\$\(.*?\) )?/, '').split(' ');
}

/** Returns the reason why a server cannot be started, or `undefined` if the server can be started. */
export function missing(name: ServerName): string | undefined {
  if (name !== OURS || existsSync(join(ROOT, 'dist/main.js'))) return undefined;
  return 'animal-store is not built: run `npm run build` first';
}

/** Starts a server with its output in a file, as for a service. Reads the address of the server from that file. */
export async function startServer(name: ServerName, options: StartOptions): Promise<RunningServer> {
  const log = join(workDir, `${name}.log`);
  const output = openSync(log, 'w');
  const child = launch('server', [process.execPath, ...SERVERS[name].command], {
    cwd: ROOT,
    stdio: ['ignore', output, output],
    env: {
      PATH: process.env['PATH'],
      NODE_ENV: 'production',
      PORT: '0',
      DATABASE_URL: options.url,
      LOG_LEVEL: options.logLevel ?? 'warn',
      ...options.environment,
    },
  });
  closeSync(output);
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  const said = () => readFileSync(log, 'utf8').slice(0, 2000);

  const deadline = performance.now() + START_TIMEOUT;
  let port: string | undefined;
  while (port === undefined) {
    if (hasEnded()) throw new Error(`${name} ended during its start:\n${said()}`);
    if (performance.now() > deadline) {
      await end(child);
      throw new Error(`${name} printed no address:\n${said()}`);
    }
    await sleep(2);
    port = ADDRESS.exec(said())?.[1];
  }

  return {
    name,
    origin: `http://127.0.0.1:${port}`,
    pid: child.pid ?? 0,
    async stop() {
      if (hasEnded())
        throw new Error(`${name} ended under load (${child.exitCode ?? child.signalCode}):\n${said()}`);
      await end(child);
    },
  };
}
