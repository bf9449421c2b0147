/** Both sides of one connection to a server of a test. */

import { once } from 'node:events';
import { connect, type Server, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

export interface SocketPair {
  /** The socket of the client. It stays open when the server has ended its side. */
  readonly client: Socket;
  /** The socket of the server. */
  readonly socket: Socket;
  /** Sends bytes, and resolves when the server has read them. */
  send(bytes: string): Promise<void>;
}

/** Lets a server listen on a free port until the end of the test. */
export async function listen(server: Server): Promise<void> {
  onTestFinished(() => void server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
}

/** Opens a connection to a server that listens. Both sides are destroyed at the end of the test. */
export async function openSockets(server: Server): Promise<SocketPair> {
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  const { port } = server.address() as { port: number };
  const client = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  client.on('error', () => {});
  const [socket] = await accepted;
  onTestFinished(() => {
    client.destroy();
    socket.destroy();
  });
  return {
    client,
    socket,
    async send(bytes) {
      const expected = socket.bytesRead + bytes.length;
      client.write(bytes);
      while (socket.bytesRead < expected) await new Promise((resolve) => setTimeout(resolve, 1));
      await new Promise((resolve) => setTimeout(resolve, 1));
    },
  };
}
