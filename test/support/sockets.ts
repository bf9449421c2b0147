/** Servers of a test. */

import { once } from 'node:events';
import { Server as HttpServer } from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import { atEnd } from './process.ts';

/** Lets a server listen on a free port until the end of the test, and returns its origin. */
export async function listen(server: Server): Promise<string> {
  atEnd(() => {
    server.close();
    if (server instanceof HttpServer) server.closeAllConnections();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
