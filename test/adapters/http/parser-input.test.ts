/** What the parser receives of the bytes on a socket. The test decides when a slice has its turn. */

import { once } from 'node:events';
import { createServer } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { ParserInput } from '../../../src/adapters/http/node/parser-input.ts';
import { listen, openSockets, type SocketPair } from '../../support/sockets.ts';

interface Harness extends SocketPair {
  readonly input: ParserInput;
  /** The sizes of the chunks that the parser has received. */
  readonly received: readonly number[];
  /** Starts the turns of the slices that wait for them. */
  readonly waiting: (() => void)[];
  setParsing(mayParse: boolean): void;
}

async function open(): Promise<Harness> {
  const server = createServer({ allowHalfOpen: true });
  await listen(server);
  const pair = await openSockets(server);
  const received: number[] = [];
  const waiting: (() => void)[] = [];
  let mayParse = true;
  const nextSlice = () => new Promise<void>((resolve) => waiting.push(resolve));
  const input = new ParserInput(pair.socket, nextSlice, () => mayParse);
  pair.socket.on('data', (chunk: Buffer) => received.push(chunk.length));
  const setParsing = (value: boolean) => {
    mayParse = value;
  };
  return { ...pair, input, received, waiting, setParsing };
}

/** Starts the next turn, and lets the connection use it. */
async function begin(waiting: (() => void)[]): Promise<void> {
  waiting.shift()?.();
  await nextTurn();
}

test('slices of 512 bytes have a turn each, except the last one', async () => {
  const { input, send, received, waiting } = await open();
  input.slice();
  await send('x'.repeat(1200));
  expect([received, waiting.length]).toEqual([[], 1]);
  await begin(waiting);
  expect([received, waiting.length]).toEqual([[512], 1]);
  await begin(waiting);
  expect([received, waiting.length]).toEqual([[512, 512, 176], 0]);
  await send('x'.repeat(512));
  expect([received.at(-1), waiting.length]).toEqual([512, 0]);
});

test('a turn is not used when the parser has been paused meanwhile', async () => {
  const { input, send, received, waiting, setParsing } = await open();
  input.slice();
  await send('x'.repeat(600));
  setParsing(false);
  await begin(waiting);
  expect(received).toEqual([]);
  setParsing(true);
  input.parseSlices();
  await begin(waiting);
  expect(received).toEqual([512, 88]);
});

test('the end of the client is noticed after bytes that had to wait', async () => {
  const { client, socket, input, send, received, waiting } = await open();
  const receivedAtEnd: number[] = [];
  socket.once('end', () => receivedAtEnd.push(...received));
  input.slice();
  await send('x'.repeat(600));
  client.end();
  await once(client, 'finish');
  await begin(waiting);
  await expect.poll(() => receivedAtEnd).toEqual([512, 88]);
});

test('nothing more is read from the network while bytes wait, or while the parser reads itself', async () => {
  const { socket, input, send, setParsing } = await open();
  const read = vi.spyOn(socket, 'read');
  input.parseSlices();
  expect(read).not.toHaveBeenCalled();
  input.slice();
  setParsing(false);
  await send('x');
  read.mockClear();
  input.parseSlices();
  expect([socket.readableLength, read.mock.calls]).toEqual([1, []]);
});

test('what is discarded does not wait for the parser, also when slices are requested later', async () => {
  for (const isSliced of [false, true]) {
    const { socket, input, send, setParsing } = await open();
    if (isSliced) input.slice();
    setParsing(false);
    input.discard();
    input.slice();
    await send('x'.repeat(1000));
    await expect.poll(() => socket.readableLength).toBe(0);
  }
});
