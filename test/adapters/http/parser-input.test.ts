import { createServer } from 'node:http';
import { expect, test, vi } from 'vitest';
import { ParserInput } from '../../../src/adapters/http/node/parser-input.ts';
import { sliceTurns } from '../../../src/adapters/http/node/slice-turns.ts';
import { listen, openSockets } from '../../support/sockets.ts';

const GET = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';

test.each(['direct', 'paused', 'sliced', 'sliced and paused'])('`discard` ends %s parsing', async (mode) => {
  const handle = vi.fn();
  const server = createServer(handle);
  await listen(server);
  const { socket, send } = await openSockets(server);
  const input = new ParserInput(socket, sliceTurns(), () => true);
  if (mode.includes('sliced')) input.slice();
  await send(GET);
  expect(handle).toHaveBeenCalledTimes(1);
  if (mode.includes('paused')) socket.pause();
  input.discard();
  input.slice();
  await send(GET.repeat(10_000));
  expect(handle).toHaveBeenCalledTimes(1);
  expect(socket.readableLength).toBe(0);
});
