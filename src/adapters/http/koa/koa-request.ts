import type { IncomingMessage } from 'node:http';
import type { Context } from 'koa';
import { needsApiKey } from '../api/authentication.ts';
import type { CarriedRequest, CompleteResponse, RequestHead } from '../api/http.ts';
import { readBytes } from './body.ts';

export class KoaRequest implements CarriedRequest {
  /** Read before the client can disconnect, because it is unknown afterwards. */
  readonly peer: string | undefined;
  readonly #ctx: Context;

  constructor(ctx: Context) {
    this.peer = ctx.req.socket.remoteAddress;
    this.#ctx = ctx;
  }

  get head(): RequestHead {
    return this.#ctx.req as RequestHead;
  }

  get path(): string {
    const mounted = this.#originalPath;
    if (mounted !== undefined && needsApiKey(mounted)) return mounted;
    try {
      // For the request target `http://`, `ctx.path` is null, although the declared type is `string`.
      return (this.#ctx.path as string | null) ?? '';
    } catch {
      return '';
    }
  }

  /** The path before a framework has removed the part where this API is mounted, as `app.use('/v1', ...)` of Express does. */
  get #originalPath(): string | undefined {
    const { originalUrl = this.#ctx.originalUrl } = this.#ctx.req as IncomingMessage & {
      originalUrl?: unknown;
    };
    if (typeof originalUrl !== 'string' || originalUrl === this.#ctx.req.url) return undefined;
    return originalUrl.split('?', 1)[0];
  }

  get query(): string {
    return this.#ctx.querystring;
  }

  get scheme(): string {
    return this.#ctx.protocol;
  }

  get connection(): object {
    return this.#ctx.req.socket;
  }

  get isConnected(): boolean {
    return !this.#ctx.res.destroyed;
  }

  readBody(): Uint8Array | Promise<Uint8Array> {
    return readBytes(this.#ctx);
  }

  onClose(listener: () => void): () => void {
    const { res } = this.#ctx;
    res.once('close', listener);
    return () => res.off('close', listener);
  }

  /**
   * Writes the response without the setters of Koa (bench/README.md). Node.js sends the head together with a body that is
   * latin1, as ASCII is.
   */
  send({ status, headers, body, length, closes }: CompleteResponse): void {
    const { res } = this.#ctx;
    if (res.headersSent) return;
    if (closes) res.shouldKeepAlive = false;
    res.writeHead(status, headers as string[]);
    res.end(body, length === body.length ? 'latin1' : 'utf8');
  }
}
