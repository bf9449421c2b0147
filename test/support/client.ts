/** The only way in which tests get answers from the server: every single one passes the checks of `answer-checks.ts`. */

import { Agent, type IncomingMessage, request } from 'node:http';
import { ANSWER_CHECKS } from './answer-checks.ts';

export interface Answer {
  readonly status: number;
  /** By lower-case name; of a name that came twice, the last. */
  readonly headers: Readonly<Record<string, string>>;
  /** As they came. */
  readonly rawHeaders: readonly (readonly [name: string, value: string])[];
  readonly body: string;
}

/** What was asked, as far as it is known: a message that is no HTTP has neither. */
export interface Asked {
  readonly method: string;
  readonly target: string;
}

export interface RequestOptions {
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body?: string | Uint8Array;
  /** `null` for none; the client's own when left out. */
  readonly key?: string | null;
}

/** Passes an answer through every check, and gives it back. */
export function checked(answer: Answer, asked: Asked): Answer {
  for (const check of ANSWER_CHECKS) check(answer, asked);
  return answer;
}

export function answerOf(status: number, rawHeaders: Answer['rawHeaders'], body: string): Answer {
  const headers = Object.fromEntries(rawHeaders.map(([name, value]) => [name.toLowerCase(), value]));
  return { status, headers, rawHeaders, body };
}

/** A well-behaved client with connections that stay open. */
export class Client {
  readonly origin: string;
  readonly key: string;
  readonly #agent = new Agent({ keepAlive: true });

  constructor(origin: string, key: string) {
    this.origin = origin;
    this.key = key;
  }

  get(target: string, headers: RequestOptions['headers'] = {}): Promise<Answer> {
    return this.request('GET', target, { headers });
  }

  /** Sends a body in JSON to `/v1/pets`: a text or bytes as they are, anything else through `JSON.stringify`. */
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
          .then((answer) => checked(answer, { method, target }))
          .then(resolve, reject);
      });
      outgoing.end(body);
    });
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
