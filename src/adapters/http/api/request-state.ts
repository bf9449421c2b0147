import { needsApiKey } from './authentication.ts';
import { clientAddress, forwardedProtocol, type TrustedProxies } from './client-address.ts';
import { type Context, fieldOf, type RequestState } from './context.ts';
import { requestIdOf } from './request-id.ts';

/** A valid `traceparent` of version 00 (W3C Trace Context). A trace id or a parent id of zeros is invalid. */
const TRACEPARENT = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

export interface RequestSettings {
  readonly proxies: TrustedProxies | undefined;
  /** Whether an observer is told the address of each request. */
  readonly needsAddress: boolean;
  /** Whether a text contains a part of an API key that can have any format. */
  readonly isSecret: (text: string) => boolean;
}

export class NewRequest implements RequestState {
  readonly requestId: string;
  readonly path: string;
  readonly startedAt: number = performance.now();
  holder: RequestState['holder'];
  isTooBusy = false;
  readonly #ctx: Context;
  readonly #settings: RequestSettings;
  #address: string | undefined;

  constructor(ctx: Context, settings: RequestSettings) {
    this.#ctx = ctx;
    this.#settings = settings;
    this.path = pathOf(ctx);
    this.requestId = requestIdOf(ctx, settings.isSecret);
    // It can become unknown when the client disconnects.
    if (settings.needsAddress) this.#address = this.address;
  }

  get route(): string | undefined {
    return this.#ctx.matched?.[0]?.name;
  }

  get address(): string | undefined {
    if (this.#address !== undefined) return this.#address;
    const { socket, headers } = this.#ctx;
    return clientAddress(socket.remoteAddress, headers['x-forwarded-for'], this.#settings.proxies);
  }

  get scheme(): string {
    const { socket, headers, protocol } = this.#ctx;
    const forwarded = headers['x-forwarded-proto'];
    return forwardedProtocol(socket.remoteAddress, forwarded, this.#settings.proxies) ?? protocol;
  }

  get callerId(): string | undefined {
    return this.holder?.callerId ?? this.holder?.id;
  }

  get traceparent(): string | undefined {
    const traceparent = fieldOf(this.#ctx, 'traceparent');
    const isUsable =
      traceparent !== undefined && TRACEPARENT.test(traceparent) && !this.#settings.isSecret(traceparent);
    return isUsable ? traceparent : undefined;
  }
}

/** Returns the path of the request target, or an empty string if the target is not a URL. */
export function pathOf(ctx: Pick<Context, 'path' | 'url' | 'req' | 'originalUrl'>): string {
  const { originalUrl = ctx.originalUrl } = ctx.req;
  if (typeof originalUrl === 'string' && originalUrl !== ctx.url) {
    const [mounted = ''] = originalUrl.split('?', 1);
    if (needsApiKey(mounted)) return mounted;
  }
  try {
    // For the request target `http://`, `ctx.path` of Koa is null, although the declared type is `string`.
    return (ctx.path as string | null) ?? '';
  } catch {
    return '';
  }
}
