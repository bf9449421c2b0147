import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** How long the server may take to close a connection, in milliseconds. */
const CLOSE_TIMEOUT = 1000;

/** Resolves when the server has closed the connections. Closes those that remain open for {@link CLOSE_TIMEOUT}. */
export async function untilClosed(sockets: Iterable<Socket>): Promise<void> {
  const open = [...sockets].filter(({ destroyed }) => !destroyed);
  const closed = open.map((socket) => new Promise((resolve) => socket.once('close', resolve)));
  await Promise.race([Promise.all(closed), delay(CLOSE_TIMEOUT, undefined, { ref: false })]);
  for (const socket of open) socket.destroy();
}
