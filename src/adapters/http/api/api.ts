import { checkArgument, checkOptions, type OptionRules } from '../../../application/arguments.ts';
import { fenced } from '../../../application/fenced.ts';
import { combineObservers } from '../../../application/observers.ts';
import type { ApiKeyVerifier } from '../../../application/ports/api-key-verifier.ts';
import type { Observer } from '../../../application/ports/observer.ts';
import { invalidRequest } from '../../../domain/errors.ts';
import { Admission } from './admission.ts';
import { bearerKey, invalidKey, needsApiKey, verifyKey } from './authentication.ts';
import { cachedProxies, clientAddress } from './client-address.ts';
import { Cors } from './cors.ts';
import { DEPRECATED_PATH, deprecationHeaders } from './deprecation.ts';
import { errorResponse, HttpError } from './errors.ts';
import { Exchange, type ExchangeContext } from './exchange.ts';
import { isHealthCheck } from './health.ts';
import type {
  ApiResponse,
  CarriedRequest,
  CompleteResponse,
  CreateMatcher,
  Headers,
  Matcher,
} from './http.ts';
import { headRules } from './malformed.ts';
import { HTTP_OPTIONS, HTTP_STORE, type HttpOptions, type HttpStore } from './options.ts';
import { checkRead } from './preconditions.ts';
import { pathPrefixOf } from './public-url.ts';
import { newRequestId } from './request-id.ts';
import { noContent } from './responses.ts';
import { createRoutes, METRICS_PATH, notFound, type Routes } from './routes.ts';
import { unmatchedPath } from './unmatched-path.ts';

/** The whole HTTP API. A carrier of a server or framework only passes requests to `handle` and sends the responses. */
export class Api {
  readonly admission: Admission;
  readonly #observer: Observer;
  readonly #observesClients: boolean;
  readonly #context: ExchangeContext;
  readonly #cors: Cors;
  readonly #refuseMalformed = headRules();
  readonly #deprecation: Headers;
  readonly #verifier: ApiKeyVerifier;
  readonly #routes: Routes;
  readonly #match: Matcher;

  /** @param rules the rules of the options, of which a server has more */
  constructor(
    store: HttpStore,
    options: HttpOptions,
    createMatcher: CreateMatcher,
    rules: OptionRules<HttpOptions> = HTTP_OPTIONS,
  ) {
    checkArgument('store', store, HTTP_STORE);
    checkOptions(options, rules);
    const { apiKeys, corsOrigins, observers = [], publicUrl, rateLimit, thread, trustedProxies } = options;
    const prefix = pathPrefixOf(publicUrl);
    this.admission = new Admission(rateLimit, thread);
    this.#observer = combineObservers(observers);
    this.#observesClients = observers.some((each) => each.onRequest !== undefined && !each.ignoresClient);
    this.#context = {
      proxies: cachedProxies(trustedProxies),
      needsAddress: this.#observesClients,
      bodies: this.admission.bodies,
      isSecret: (text) => isPartOfKey(apiKeys, text),
    };
    this.#cors = new Cors(corsOrigins);
    this.#deprecation = deprecationHeaders(prefix);
    this.#verifier = apiKeys ?? { verify: (key) => store.verifyApiKey(key) };
    this.#routes = createRoutes(store, this.admission, options, prefix);
    // The router takes longer, so it only gets the paths with variables.
    const routes = [...this.#routes.keys()];
    const matchTemplate = createMatcher(routes.filter((route) => route.includes('{')));
    const matches = routes.filter((route) => !route.includes('{')).map((route) => ({ route, params: {} }));
    this.#match = (path) => matches.find(({ route }) => route === path) ?? matchTemplate(path);
  }

  /**
   * Handles a request, and sends its response. Never rejects. The API key is checked before anything else about the request:
   * a client without a valid key gets status 401 for every path under `/v1`, and learns nothing else about the API. All of it
   * is one asynchronous function, because each further one would allocate memory for every request.
   */
  async handle(carried: CarriedRequest): Promise<void> {
    const exchange = new Exchange(carried, this.#context);
    const { head } = exchange;
    const { path } = carried;
    const { authorization } = head.headers;
    // A request that will be refused, because the server is too busy, does not wait for its turn.
    const isTooBusy = this.admission.isTooBusy(authorization) && !isHealthCheck(path);
    let isOverload = false;
    let response: ApiResponse | undefined;
    let thrown: unknown;
    try {
      const turn = isTooBusy ? undefined : this.admission.enter(carried, authorization);
      if (turn !== undefined) await turn;
      if (this.#cors.isPreflight(head)) {
        this.#refuseMalformed(head);
        response = noContent();
      } else {
        if (path === '') throw invalidRequest('the request target is not a URL');
        const isMetrics = path === METRICS_PATH && this.#routes.has(path);
        if (isMetrics || needsApiKey(path)) {
          exchange.holder = await verifyKey(this.#verifier, bearerKey(head));
          this.admission.setKnown(authorization ?? '', exchange.holder !== undefined);
          if (exchange.holder === undefined) throw invalidKey();
        }
        const refusal = isMetrics
          ? this.admission.metricsRefusalOf(exchange.callerId ?? '')
          : this.admission.refusalOf(head.method ?? '', exchange.callerId, isTooBusy);
        if (refusal !== undefined) throw refusal;
        this.#refuseMalformed(head);
        exchange.match = this.#match(path);
        response = await (this.#routes.get(exchange.match?.route ?? '') ?? notFound)(exchange);
        checkRead(head, response);
      }
    } catch (error) {
      response = undefined;
      isOverload = isTooBusy || (error instanceof HttpError && error.code === 'overloaded');
      thrown = error;
    }
    const delay = this.admission.delayResponse(carried, exchange.callerId, isOverload, isHealthCheck(path));
    if (delay !== undefined) await delay;
    // An error is reported when the client gets the response, so a client that ignores refusals cannot fill the log faster.
    const isAborted = this.#observesClients && !carried.isConnected;
    let status: number;
    try {
      status = this.#send(response ?? this.#failure(thrown, exchange), exchange);
    } catch (error) {
      // Code of the host can return fields or bodies that cannot be sent, such as a `contentType` with a line break.
      status = this.#send(this.#failure(error, exchange), exchange);
    }
    this.#report(exchange, status, isAborted);
  }

  /** Refuses a message that the carrier could not parse as a request, and notifies the observers. */
  refuseMessage(
    error: HttpError,
    peer: string | undefined,
    forwardedFor: string | string[] | undefined,
    send: (response: CompleteResponse) => void,
  ): void {
    const requestId = newRequestId();
    const response = errorResponse(error, requestId);
    send(completed(response, requestId));
    this.#observer.onRequest?.({
      method: '',
      route: undefined,
      path: undefined,
      status: response.status,
      ms: 0,
      requestId,
      keyId: undefined,
      address: clientAddress(peer, forwardedFor, this.#context.proxies),
      aborted: undefined,
      traceparent: undefined,
    });
  }

  #failure(error: unknown, exchange: Exchange): ApiResponse {
    const { head, requestId } = exchange;
    const response = errorResponse(error, requestId, head);
    if (response.status >= 500) {
      this.#observer.onError?.(error, requestId, exchange.address, exchange.traceparent);
    }
    return response;
  }

  #send(response: ApiResponse, exchange: Exchange): number {
    exchange.carried.send(this.#complete(response, exchange));
    return response.status;
  }

  #complete(response: ApiResponse, { head, carried, match, requestId }: Exchange): CompleteResponse {
    const complete = completed(response, requestId);
    this.#cors.addFields(complete.headers, head);
    // A request can be refused before its path is matched.
    const { route } = match ?? this.#match(carried.path) ?? {};
    if (route === DEPRECATED_PATH && response.status !== 401) complete.headers.push(...this.#deprecation);
    return complete;
  }

  #report(exchange: Exchange, status: number, isAborted: boolean): void {
    const { head, holder, match, requestId, startedAt } = exchange;
    this.#observer.onRequest?.({
      method: head.method ?? '',
      route: match?.route,
      path: match === undefined ? unmatchedPath(head) : undefined,
      status,
      ms: Math.round((performance.now() - startedAt) * 1000) / 1000,
      requestId,
      keyId: holder?.id,
      address: this.#observesClients ? exchange.address : undefined,
      aborted: isAborted ? true : undefined,
      traceparent: exchange.traceparent,
    });
  }
}

/** A verifier whose method fails, or does not return a boolean, says that any text may be a secret. */
function isPartOfKey(verifier: ApiKeyVerifier | undefined, text: string): boolean {
  return verifier?.hasPartOfKey !== undefined && fenced(() => verifier.hasPartOfKey?.(text)) !== false;
}

/** Adds the header fields that every response has. */
function completed(
  { status, headers, body, closes = false }: ApiResponse,
  requestId: string,
): CompleteResponse & { readonly headers: string[] } {
  const length = typeof body === 'string' ? Buffer.byteLength(body) : body.length;
  const fields = [...headers, 'X-Request-Id', requestId];
  if (status !== 204 && status !== 304) fields.push('Content-Length', String(length));
  return { status, headers: fields, body, length, closes };
}
