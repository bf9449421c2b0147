import type { Context } from 'koa';
import { forwardedProtocol } from '../api/client-address.ts';
import type { ApiRequest, RequestHead } from '../api/http.ts';
import { readBytes } from './body.ts';
import type { RequestState } from './respond.ts';

/** Adapts a Koa context to the request type of the API. */
export class KoaRequest implements ApiRequest {
  readonly #ctx: Context;
  readonly params: Readonly<Record<string, string>>;

  constructor(ctx: Context, params: Readonly<Record<string, string>> = {}) {
    this.#ctx = ctx;
    this.params = params;
  }

  get head(): RequestHead {
    return this.#ctx.req;
  }

  get query(): string {
    return this.#ctx.querystring;
  }

  get protocol(): string {
    const { req, state } = this.#ctx;
    const { proxies } = (state as RequestState).app;
    const forwarded = forwardedProtocol(req.socket.remoteAddress, req.headers['x-forwarded-proto'], proxies);
    return forwarded ?? this.#ctx.protocol;
  }

  preferredType(...types: string[]): string | false {
    return this.#ctx.accepts(types);
  }

  get callerId(): string {
    const { holder } = this.#ctx.state as RequestState;
    return holder?.callerId ?? holder?.id ?? '';
  }

  readBody(): Promise<Uint8Array> {
    return readBytes(this.#ctx);
  }
}
