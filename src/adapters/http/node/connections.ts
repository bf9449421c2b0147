import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { Connection } from './connection.ts';

/** The open connections of a server. */
export class Connections {
  readonly #bySocket = new Map<Duplex, Connection>();
  #isStopping = false;

  add(socket: Socket): void {
    this.#bySocket.set(socket, new Connection(socket));
    // After a CONNECT request, Node.js removes its listener. Without any, an error would end the process.
    socket.on('error', () => {});
    socket.once('close', () => this.#bySocket.delete(socket));
  }

  get count(): number {
    return this.#bySocket.size;
  }

  get(socket: Duplex): Connection | undefined {
    return this.#bySocket.get(socket);
  }

  accepts(req: IncomingMessage, res: ServerResponse): boolean {
    return this.#bySocket.get(req.socket)?.accepts(req, res, this.#isStopping) ?? false;
  }

  /** From now on, each connection is closed after its newest response, and an idle one also by {@link closeIdle}. */
  stop(): void {
    this.#isStopping = true;
    for (const connection of this.#bySocket.values()) connection.closeAfterNewest();
  }

  closeIdle(): void {
    for (const { isIdle, socket } of this.#bySocket.values()) {
      if (isIdle) socket.destroySoon();
    }
  }

  destroy(): void {
    for (const { socket } of this.#bySocket.values()) socket.destroy();
  }
}
