/** A proxy between a storage and a PostgreSQL server, which cuts a connection at a given byte. */

import type { Socket } from 'node:net';
import { startTunnel } from '../../support/postgres/tunnel.ts';

export type Direction = 'to the server' | 'to the client';

export interface CuttingProxy {
  readonly url: string;
  /** Cuts the connection that has transferred this number of further bytes in a direction. */
  cutAfter(bytes: number, direction: Direction): void;
  /** Transfers everything from now on. */
  repair(): void;
  /** Cuts all connections. */
  cutAll(): void;
  /** The numbers of bytes that were transferred since the last call. */
  transferred(): Record<Direction, number>;
}

export async function startProxy(url: string): Promise<CuttingProxy> {
  const target = new URL(url);
  let count: Record<Direction, number> = { 'to the server': 0, 'to the client': 0 };
  let cut: { left: number; readonly direction: Direction } | undefined;

  function transfer(from: Socket, to: Socket, direction: Direction): void {
    from.on('end', () => to.end());
    from.on('data', (data: Buffer) => {
      if (cut?.direction !== direction || data.length < cut.left) {
        count[direction] += data.length;
        if (cut?.direction === direction) cut.left -= data.length;
        to.write(data);
        return;
      }
      const last = data.subarray(0, cut.left);
      cut.left = 0;
      // The other side still gets the first bytes.
      from.pause();
      to.end(last, () => from.destroy());
    });
  }

  const to = { port: Number(target.port), host: target.hostname };
  const { port, cutAll } = await startTunnel(to, (client, server) => {
    transfer(client, server, 'to the server');
    transfer(server, client, 'to the client');
  });
  return {
    url: Object.assign(new URL(url), { port }).href,
    cutAfter(bytes, direction) {
      cut = { left: bytes, direction };
    },
    repair() {
      cut = undefined;
    },
    cutAll,
    transferred() {
      const last = count;
      count = { 'to the server': 0, 'to the client': 0 };
      return last;
    },
  };
}
