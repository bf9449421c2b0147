/** The real server, which tests kill and measure. */

import { existsSync, readFileSync } from 'node:fs';
import {
  type Exit,
  OPERATOR_KEY,
  type Service,
  startService,
  stopService,
  temporaryFolder,
} from '../support/process.ts';
import { storeOf } from './commands.ts';

/** The option of `npm start`. */
const NODE_ARGS = ['--max-semi-space-size=8'];

export interface ServerOptions {
  /** The path to which the log is appended, instead of `out`. */
  readonly stderr?: string;
  /** A free port by default. */
  readonly port?: number;
  /** Environment variables. They can replace {@link OPERATOR_KEY}, the level `warn` and the store of the folder. */
  readonly env?: Readonly<Record<string, string>>;
  /** The folder of the store; a new one by default. */
  readonly folder?: string;
}

export interface FaultsServer extends Service {
  readonly folder: string;
  readonly port: number;
  kill(): Promise<Exit>;
  stop(): Promise<Exit>;
  /** Resident memory in MB; `undefined` without /proc, which only Linux has. */
  memory(): number | undefined;
}

export async function startFaultsServer(options: ServerOptions = {}): Promise<FaultsServer> {
  const { stderr, folder = temporaryFolder(), port = 0, env } = options;
  const settings = {
    DATABASE_URL: storeOf(folder),
    PORT: String(port),
    API_KEYS: OPERATOR_KEY,
    LOG_LEVEL: 'warn',
    ...env,
  };
  const service = await startService({ cwd: folder, nodeArgs: NODE_ARGS, env: settings, stderr });
  const { child, exit, origin } = service;
  return {
    ...service,
    folder,
    port: Number(new URL(origin).port),
    kill() {
      child.kill('SIGKILL');
      return exit;
    },
    stop: () => stopService({ child, exit }),
    memory() {
      const path = `/proc/${child.pid}/status`;
      if (!existsSync(path)) return undefined;
      return Number(/VmRSS:\s*(\d+)/.exec(readFileSync(path, 'utf8'))?.[1]) / 1024;
    },
  };
}
