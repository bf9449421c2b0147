/** A proxy in front of a server. */

import { connect, createServer, type Socket } from 'node:net';
import { atEnd } from '../process.ts';
import { listen } from '../sockets.ts';

export interface Tunnel {
  readonly port: number;
  cutAll(): void;
}

/**
 * Starts a proxy between clients and a server. `transfer` transfers the data of each new connection. When one side is
 * closed, so is the other one.
 */
export async function startTunnel(
  to: { readonly port: number; readonly host?: string },
  transfer: (client: Socket, server: Socket) => void,
): Promise<Tunnel> {
  const sockets = new Set<Socket>();
  const door = createServer((client) => {
    const server = connect({ host: '127.0.0.1', ...to });
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
    transfer(client, server);
  });
  const { port } = new URL(await listen(door));
  const cutAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  atEnd(cutAll);
  return { port: Number(port), cutAll };
}
