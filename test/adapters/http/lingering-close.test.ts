import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { STORAGES, sharedServer } from '../../support/server.ts';

/** More bytes than the buffers of both sockets, so that some bytes are unread when the connection is closed. */
const SENT_BEHIND = 'x'.repeat(16 * 1024 * 1024);

describe.concurrent.each(STORAGES)('the last response of a connection, on %s', (storage) => {
  const server = sharedServer(storage);

  test.each([
    [
      'the client requested Connection: close',
      200,
      () => 'GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
    ],
    [
      'the client requested an upgrade',
      200,
      () => 'GET /livez HTTP/1.1\r\nHost: x\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n',
    ],
    ['the request is HTTP/1.0', 200, () => 'GET /livez HTTP/1.0\r\n\r\n'],
    [
      'the framing was refused',
      400,
      () => 'GET /livez HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n',
    ],
    ['a tunnel was refused', 405, () => 'CONNECT x:80 HTTP/1.1\r\nHost: x:80\r\n\r\n'],
    ['the message is not HTTP', 400, () => 'GET\r\n\r\n'],
  ])('reaches a client that continues to send, when %s', async (_case, status, request) => {
    const { port, hostname } = new URL(server.origin);
    const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
    const faults: Error[] = [];
    socket.on('error', (error) => faults.push(error));
    socket.write(request());
    socket.write(SENT_BEHIND);
    await once(socket, 'drain');
    let received = '';
    socket.setEncoding('latin1').on('data', (text: string) => {
      received += text;
    });
    await once(socket, 'end');
    socket.end();
    await once(socket, 'close');
    expect(faults).toEqual([]);
    expect(received).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(received.match(/HTTP\/1\.1/g)).toHaveLength(1);
  });

  test('does not keep the connection open for a client that continues to send', async () => {
    const { port, hostname } = new URL(server.origin);
    const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true }).resume();
    socket.on('error', () => {});
    socket.write('GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    await once(socket, 'end');
    const written = async () => {
      for (;;) {
        const fault = await new Promise<Error | null | undefined>((resolve) => socket.write('x', resolve));
        if (fault) return fault;
        await new Promise((resolve) => setTimeout(resolve, 1500));
      }
    };
    expect(await written()).toMatchObject({ code: expect.stringMatching(/EPIPE|ECONNRESET/) });
  });
});
