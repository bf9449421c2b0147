import type { IncomingMessage, ServerResponse } from 'node:http';
import { ReadableStream } from 'node:stream/web';
import type { FetchHandler } from '../../src/adapters/http/fetch.ts';

/** Lets a server of Node.js call a fetch handler. */
export function fetchListener(
  handle: FetchHandler,
): (req: IncomingMessage, res: ServerResponse) => Promise<void> {
  return async (req, res) => {
    const { method = '', url = '', headersDistinct, socket } = req;
    const headers = new Headers();
    for (const [name, values = []] of Object.entries(headersDistinct))
      headers.append(name, values.join(', '));
    const aborter = new AbortController();
    res.once('close', () => aborter.abort());
    const body = method === 'GET' || method === 'HEAD' ? null : ReadableStream.from(bodyOf(req));
    const init = { method, headers, body, signal: aborter.signal, duplex: 'half' } as RequestInit;
    const request = new Request(url.startsWith('/') ? `http://localhost${url}` : url, init);
    const response = await handle(request, socket);
    res.shouldKeepAlive &&= response.headers.get('connection') !== 'close';
    res.writeHead(response.status, Object.fromEntries(response.headers));
    res.end(Buffer.from(await response.arrayBuffer()));
  };
}

async function* bodyOf(req: IncomingMessage): AsyncGenerator<Uint8Array> {
  yield* req.iterator({ destroyOnReturn: false });
}
