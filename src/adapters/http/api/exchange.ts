import type { ApiKeyHolder } from '../../../application/ports/api-key-verifier.ts';
import { clientAddress, forwardedProtocol, type TrustedProxies } from './client-address.ts';
import { HttpError } from './errors.ts';
import type { ApiResponse, CarriedRequest, Match, RequestHead } from './http.ts';
import { requestIdOf } from './request-id.ts';
import type { SlowClients } from './slow-clients.ts';

/** A valid `traceparent` of version 00 (W3C Trace Context). A trace id or a parent id of zeros is invalid. */
const TRACEPARENT = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

export type Handler = (exchange: Exchange) => ApiResponse | Promise<ApiResponse>;

export interface ExchangeContext {
  readonly proxies: TrustedProxies | undefined;
  readonly bodies: SlowClients;
  /** Whether an observer is told the address of each request. */
  readonly needsAddress: boolean;
  /** Whether a text contains a part of an API key that can have any format. */
  readonly isSecret: (text: string) => boolean;
}

/** A request on its way through the API, and what the API has learned about it so far. */
export class Exchange {
  readonly carried: CarriedRequest;
  readonly head: RequestHead;
  readonly requestId: string;
  readonly startedAt: number = performance.now();
  holder: ApiKeyHolder | undefined;
  match: Match | undefined;
  #address: string | undefined;
  readonly #context: ExchangeContext;

  constructor(carried: CarriedRequest, context: ExchangeContext) {
    this.carried = carried;
    this.head = carried.head;
    this.#context = context;
    this.requestId = requestIdOf(carried.head, context.isSecret);
    // It can become unknown when the client disconnects.
    if (context.needsAddress) this.#address = this.address;
  }

  /** The address of the client; `undefined` when it is unknown. */
  get address(): string | undefined {
    if (this.#address !== undefined) return this.#address;
    const { peer, head } = this.carried;
    return clientAddress(peer, head.headers['x-forwarded-for'], this.#context.proxies);
  }

  /** The scheme of the request URL, `http` or `https`, also behind a trusted proxy. */
  get scheme(): string {
    const { peer, head, scheme } = this.carried;
    return forwardedProtocol(peer, head.headers['x-forwarded-proto'], this.#context.proxies) ?? scheme;
  }

  /** The id of the caller, which all keys of a series of rotated API keys share; `undefined` without a valid API key. */
  get callerId(): string | undefined {
    return this.holder?.callerId ?? this.holder?.id;
  }

  /** The `traceparent` of the request, if it is valid and contains no part of an API key. */
  get traceparent(): string | undefined {
    const { traceparent } = this.head.headers;
    const isUsable =
      traceparent !== undefined && TRACEPARENT.test(traceparent) && !this.#context.isSecret(traceparent);
    return isUsable ? traceparent : undefined;
  }

  /** Reads the whole body. Also rejects with `request_timeout`, when this is the oldest of too many bodies. */
  async readBody(): Promise<Uint8Array> {
    const body = this.carried.readBody();
    if (!(body instanceof Promise)) return body;
    const { promise, reject } = Promise.withResolvers<never>();
    const client = { destroy: () => reject(new HttpError('request_timeout', TOO_MANY_BODIES)) };
    this.#context.bodies.hold(client, 1);
    try {
      return await Promise.race([body, promise]);
    } finally {
      this.#context.bodies.release(client);
    }
  }
}

const TOO_MANY_BODIES = 'the body did not arrive while many other requests arrived: send it again';
