/** The HTTP client of the tests, which applies the checks of `answer-checks.ts` to every response. */

import { Agent, type IncomingMessage, request } from 'node:http';
import { checked } from './answer-checks.ts';

export interface Answer {
  readonly status: number;
  /** The header fields by lower-case name. If a field occurs several times, the value is the last value. */
  readonly headers: Readonly<Record<string, string>>;
  /** The header fields in the received order and case. */
  readonly rawHeaders: readonly (readonly [name: string, value: string])[];
  readonly body: string;
}

/** The method and the target of a request. Both are empty for a message that is not HTTP. */
export interface Asked {
  readonly method: string;
  readonly target: string;
}

export interface RequestOptions {
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body?: string | Uint8Array;
  /** The API key of the request, or `null` for a request without a key. By default, the key of the client is used. */
  readonly key?: string | null;
}

export function answerOf(status: number, rawHeaders: Answer['rawHeaders'], body: string): Answer {
  const headers = Object.fromEntries(rawHeaders.map(([name, value]) => [name.toLowerCase(), value]));
  return { status, headers, rawHeaders, body };
}

/** Returns the path of a target, or an empty string if the target is neither a path nor a URL. */
export function pathOf(target: string): string {
  // Koa's parser of URLs takes a backslash for a slash, but only in a target with a fragment.
  const read = target.includes('#') ? target.replaceAll('\\', '/') : target;
  const [path = ''] = read.replace(/^[a-z][a-z\d+.-]*:\/\/(?:[^/?#[\]]|\[[\da-f:.]+\])*/i, '').split(/[?#]/);
  return path.startsWith('/') ? path : '';
}

/** A client that sends valid HTTP on persistent connections. */
export class Client {
  readonly origin: string;
  readonly key: string;
  readonly #agent = new Agent({ keepAlive: true });
  readonly #check: typeof checked;

  /** @param check checks each response; another function is necessary for the responses of a proxy */
  constructor(origin: string, key: string, check: typeof checked = checked) {
    this.origin = origin;
    this.key = key;
    this.#check = check;
  }

  get(target: string, headers: RequestOptions['headers'] = {}): Promise<Answer> {
    return this.request('GET', target, { headers });
  }

  /** Sends a JSON body to `/v1/pets`. A string or bytes are sent unchanged, other values by `JSON.stringify`. */
  post(body: unknown, headers: RequestOptions['headers'] = {}): Promise<Answer> {
    return this.request('POST', '/v1/pets', {
      headers: { 'Content-Type': 'application/json', ...headers },
      body: typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body),
    });
  }

  request(method: string, target: string, options: RequestOptions = {}): Promise<Answer> {
    const { body, key = this.key } = options;
    const authorization = key === null ? {} : { Authorization: `Bearer ${key}` };
    const headers: Record<string, string | string[]> = { ...authorization, ...options.headers };
    if (body !== undefined) headers['Content-Length'] ??= String(Buffer.byteLength(body));
    return new Promise((resolve, reject) => {
      const outgoing = request(this.origin, { method, path: target, headers, agent: this.#agent });
      outgoing.on('error', reject);
      outgoing.on('response', (incoming) => {
        read(incoming)
          .then((answer) => this.#check(answer, { method, target }))
          .then(resolve, reject);
      });
      outgoing.end(body);
    });
  }

  /** Follows the pages of a list. Resolves with their bodies. */
  async pages(first: string): Promise<string[]> {
    const bodies: string[] = [];
    for (let target: string | undefined = first; target !== undefined; ) {
      const { status, body, headers } = await this.get(target);
      if (status !== 200) throw new Error(`${target}: ${status} ${body}`);
      bodies.push(body);
      if (bodies.at(-2) === body) throw new Error(`${target}: the page before it had the same pets`);
      target = /^<(.*)>; rel="next"$/.exec(headers['link'] ?? '')?.[1];
    }
    return bodies;
  }

  close(): void {
    this.#agent.destroy();
  }
}

async function read(incoming: IncomingMessage): Promise<Answer> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  const names = incoming.rawHeaders.filter((_, index) => index % 2 === 0);
  const headers = names.map((name, index) => [name, incoming.rawHeaders[2 * index + 1] as string] as const);
  return answerOf(incoming.statusCode as number, headers, Buffer.concat(chunks).toString());
}
