/** Starts servers whose standard output or standard error is blocked, closed or full. */

import { spawnSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { expectNoKey } from './canary.ts';
import { Client } from './client.ts';
import { freePort } from './free-port.ts';
import { atEnd, OPERATOR_KEY, type RunOptions, runBin, type Service, temporaryFolder } from './process.ts';

export type Line = Readonly<Record<string, unknown>>;

const PIPELINED = 15;

/** Whether this user can create a device that works. Some file systems do not support devices. */
export const canMakeDevices: boolean = (() => {
  const folder = mkdtempSync(join(tmpdir(), 'animal-store-'));
  const isMade = makeFullDevice(join(folder, 'full'));
  rmSync(folder, { recursive: true });
  return isMade;
})();

/** Creates a device on which every write fails with ENOSPC, as on `/dev/full`. Returns the path of the device. */
export function fullDevice(): string {
  const path = join(temporaryFolder(), 'full');
  expect(makeFullDevice(path)).toBe(true);
  return path;
}

function makeFullDevice(path: string): boolean {
  if (spawnSync('mknod', [path, 'c', '1', '7']).status !== 0) return false;
  try {
    closeSync(openSync(path, 'w'));
    return true;
  } catch {
    return false;
  }
}

/** A named pipe whose content is read only when the test calls `read`. */
export class Pipe {
  readonly path: string = join(temporaryFolder(), 'pipe');
  readonly #output: number;
  #text = '';

  constructor() {
    expect(spawnSync('mkfifo', [this.path]).status).toBe(0);
    this.#output = openSync(this.path, constants.O_RDONLY | constants.O_NONBLOCK);
    atEnd(() => expectNoKey(this.#text, 'the log'));
  }

  /** Reads all available bytes. Returns all text that was read so far. */
  read(): string {
    const chunk = Buffer.alloc(256 * 1024);
    for (let length = this.#take(chunk); length > 0; length = this.#take(chunk)) {
      this.#text += chunk.toString('utf8', 0, length);
    }
    return this.#text;
  }

  /** Fills the pipe, so that every writer has to wait. */
  fill(): void {
    const input = openSync(this.path, constants.O_WRONLY | constants.O_NONBLOCK);
    expect(() => {
      for (;;) writeSync(input, Buffer.alloc(4096));
    }).toThrow('EAGAIN');
    closeSync(input);
  }

  /** Closes the reading end of the pipe, so that writes fail with EPIPE. */
  close(): void {
    closeSync(this.#output);
  }

  #take(chunk: Buffer): number {
    try {
      return readSync(this.#output, chunk);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return 0;
      throw error;
    }
  }
}

/** Runs `serve` on a free port. Resolves when the server responds. */
export async function serve(
  streams: Pick<RunOptions, 'stdout' | 'stderr'>,
  env: Record<string, string> = {},
): Promise<Service> {
  const port = await freePort();
  const settings = { DATABASE_URL: 'memory:', API_KEYS: OPERATOR_KEY, PORT: String(port), ...env };
  const running = runBin(['serve'], { ...streams, env: settings });
  const client = new Client(`http://127.0.0.1:${port}`, OPERATOR_KEY);
  atEnd(() => client.close());
  await expect.poll(() => client.get('/livez').then(({ status }) => status, String)).toBe(200);
  return { ...running, origin: client.origin, client };
}

/** Requests that are all alike, and the status of their responses. */
export interface Flood {
  readonly target: string;
  /** Lines of header fields. */
  readonly headers: string;
  readonly status: number;
}

export const AUTHORIZED: string = `Authorization: Bearer ${OPERATOR_KEY}\r\n`;

/** Reads, whose log lines are short. */
export const READS: Flood = { target: '/v1/pets', headers: AUTHORIZED, status: 200 };

/** Requests whose log lines are as long as possible. */
export const LONG_LINES: Flood = {
  target: `/v1/${'x'.repeat(300)}`,
  headers: `${AUTHORIZED}traceparent: 00-${'0af7651916cd43dd'.repeat(2)}-b7ad6b7169203331-01\r\n`,
  status: 404,
};

/** A number of requests whose {@link LONG_LINES} do not fit into the pipe and the buffer of the server. */
export const MANY = 4500;

/**
 * Sends `count` pipelined requests on one connection, with request ids from `flood-0`. Resolves when all responses have
 * arrived.
 */
export function flood(origin: string, count: number, { target, headers, status }: Flood): Promise<void> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(origin);
    const socket = connect(Number(port), hostname);
    let sent = 0;
    let received = 0;
    let tail = '';
    const send = () => {
      let requests = '';
      for (let last = Math.min(sent + PIPELINED, count); sent < last; sent += 1) {
        requests += `GET ${target} HTTP/1.1\r\nHost: x\r\nX-Request-Id: flood-${sent}\r\n${headers}\r\n`;
      }
      socket.write(requests);
    };
    const look = (chunk: string) => {
      const parts = (tail + chunk).split(`HTTP/1.1 ${status} `);
      received += parts.length - 1;
      tail = (parts.at(-1) as string).slice(-12);
      if (received >= count) socket.end(resolve);
      else if (received === sent) send();
    };
    socket.setEncoding('latin1').on('data', look).on('error', reject);
    socket.once('close', () => reject(new Error(`the connection ended after ${received} responses`)));
    send();
  });
}

/** The numbers of the requests of a flood that were logged, in ascending order. */
export function numbersOf(lines: readonly Line[]): number[] {
  return lines
    .map(({ requestId }) => Number(/^flood-(\d+)$/.exec(String(requestId))?.[1]))
    .filter(Number.isInteger)
    .sort((one, other) => one - other);
}

/** Expects that each request is either logged or counted as dropped, and that the log has only one gap. */
export function expectOneGap(lines: readonly Line[], count: number): void {
  const gaps = lines.filter((line) => line['dropped'] !== undefined);
  const dropped = gaps[0]?.['dropped'] as number;
  expect(gaps).toEqual([{ level: 40, time: expect.any(String), dropped, msg: 'log lines dropped' }]);
  expect(dropped).toBeGreaterThan(0);
  const numbers = numbersOf(lines);
  expect(numbers).toEqual([...new Set(numbers)]);
  expect(numbers.length + dropped).toBe(count);
}

export function linesOf(text: string): Line[] {
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}
