/** Runs `npm start` on a pseudo-terminal. */

import { spawnSync } from 'node:child_process';
import { until } from '../support/clock.ts';
import type { Connection } from '../support/connection.ts';
import { OPERATOR_KEY, type RunningProcess, runCommand } from '../support/process.ts';
import { createInFlight, folderOfClone } from './workspace.ts';

const CTRL_C = '\u0003';

/** Whether the command `script`, which makes a pseudo-terminal, is installed. */
export const hasScript: boolean = spawnSync('script', ['--version']).stdout?.includes('util-linux') === true;

/** The start does not build again, because other tests use the built command at the same time. */
export const NPM_START: readonly string[] = ['start', '--ignore-scripts'];

export interface OnTerminal extends RunningProcess {
  /** The connection of a request that waits for its body. */
  readonly connection: Connection;
  readonly pressCtrlC: () => void;
}

export async function originOf({ out }: RunningProcess): Promise<string> {
  await until(() => /Reference page: \S+\/docs/.test(out.stdout));
  return /Listening on (\S+)\/v1/.exec(out.stdout)?.[1] ?? '';
}

/** Resolves when a request is in flight. */
export async function startOnTerminal(
  environment: Readonly<Record<string, string>> = {},
): Promise<OnTerminal> {
  const running = runCommand('script', ['-qefc', `exec npm ${NPM_START.join(' ')}`, '/dev/null'], {
    cwd: folderOfClone(),
    env: { DATABASE_URL: 'memory:', API_KEYS: OPERATOR_KEY, NO_COLOR: '1', ...environment },
    isInputOpen: true,
  });
  const connection = await createInFlight(await originOf(running));
  return { ...running, connection, pressCtrlC: () => void running.child.stdin?.write(CTRL_C) };
}
