import { validateHeaderName, validateHeaderValue } from 'node:http';
import { pipeline, Readable } from 'node:stream';
import Koa, { type Context } from 'koa';
import type { Api } from '../api/app.ts';
import type { Context as ApiContext } from '../api/context.ts';
import { beginRequest } from '../api/observe.ts';
import { respondWithError } from '../api/send-errors.ts';

type FieldValue = string | number | string[];

interface CollectedResponse extends Koa.Response {
  /** Name, value, name, value: a response has few fields, and `writeHead` of Node.js takes them so. */
  fields?: FieldValue[];
}

type Sent = Context & ApiContext & { response: CollectedResponse; sent?: () => void };

/** The statuses whose responses have no body. */
const EMPTY = new Set([204, 205, 304]);

/** A Koa app whose responses are written at once. The base class would also listen for the end of each response. */
class App extends Koa {
  readonly #api: Api;

  constructor(api: Api) {
    super();
    this.#api = api;
    Object.defineProperties(this.response, COLLECTING);
    this.context['onceSent'] = function onceSent(this: Sent, listener: () => void) {
      this.sent = listener;
    };
    for (const stage of api.stages) this.use(stage as Koa.Middleware);
  }

  async handleRequest(ctx: Context, run: (ctx: Context) => Promise<void>): Promise<void> {
    const apiContext = ctx as Sent;
    ctx.res.statusCode = 404;
    try {
      await run(ctx);
      writeResponse(apiContext);
    } catch (error) {
      // The response cannot be written, or a middleware in front of the list has thrown the error.
      if (apiContext.state.animalStore === undefined) beginRequest(apiContext, this.#api.settings);
      respondWithError(apiContext, error, this.#api.observer);
      writeResponse(apiContext);
    }
    apiContext.sent?.();
  }
}

export function createApp(api: Api): Koa {
  return new App(api);
}

/**
 * Lets the responses of an app collect their header fields, which {@link writeResponse} writes at once. The setters of Koa
 * would call `setHeader` of Node.js for each field, which costs more than the rest of Koa. All other members of
 * `ctx.response` call these, and stay as they are.
 */
const COLLECTING = Object.getOwnPropertyDescriptors({
  get(name: string): string {
    const index = indexOf(this.fields, name);
    return (index === -1 ? this.res.getHeader(name) : this.fields?.[index + 1]) as string;
  },
  has(name: string): boolean {
    return indexOf(this.fields, name) !== -1 || this.res.hasHeader(name);
  },
  set(field: string | Record<string, FieldValue>, value?: FieldValue): void {
    if (this.headerSent) return;
    if (typeof field !== 'string') {
      for (const name in field) this.set(name, field[name] as string);
      return;
    }
    validateHeaderName(field);
    validateHeaderValue(field, value as string);
    this.fields ??= [];
    const index = indexOf(this.fields, field);
    if (index === -1) this.fields.push(field, value as FieldValue);
    else this.fields[index + 1] = value as FieldValue;
  },
  remove(name: string): void {
    const index = indexOf(this.fields, name);
    if (index !== -1) this.fields?.splice(index, 2);
    this.res.removeHeader(name);
  },
  vary(name: string): void {
    const given = this.get('Vary');
    this.set('Vary', given ? `${given}, ${name}` : name);
  },
  get header() {
    const { fields = [] } = this;
    const all = { ...this.res.getHeaders() };
    for (let index = 0; index < fields.length; index += 2) {
      all[(fields[index] as string).toLowerCase()] = fields[index + 1];
    }
    return all;
  },
} satisfies object & ThisType<CollectedResponse>);

/** Returns the index of a name, whatever its case, or -1. */
function indexOf(fields: readonly FieldValue[] = [], name: string): number {
  for (let index = 0; index < fields.length; index += 2) {
    const each = fields[index] as string;
    if (each === name) return index;
    if (each.length === name.length && each.toLowerCase() === name.toLowerCase()) return index;
  }
  return -1;
}

/** Writes the whole response as Koa would, unless a middleware has written it. Throws if it cannot be written. */
function writeResponse(ctx: Sent): void {
  const { res, status } = ctx;
  if (ctx.respond === false || res.headersSent) return;
  if (EMPTY.has(status)) {
    ctx.body = null;
    ctx.status = status;
    writeHead(ctx);
    res.end();
    return;
  }
  const text = textOf(ctx);
  if (text !== undefined) {
    // Node.js sends the head together with a body that is latin1, as ASCII is.
    const isAscii = typeof text === 'string' && ctx.length === text.length;
    writeHead(ctx);
    res.end(text, isAscii ? 'latin1' : 'utf8');
    return;
  }
  writeHead(ctx);
  if (ctx.method === 'HEAD') res.end();
  else pipeline(streamOf(ctx.body), res, (error) => error && ctx.app.emit('error', error, ctx));
}

/** Returns the body, unless it is a stream. */
function textOf(ctx: Sent): string | Buffer | undefined {
  const body = ctx.body as Partial<NodeJS.ReadableStream> | string | Buffer | null | undefined;
  if (typeof body === 'string' || Buffer.isBuffer(body)) return body;
  if (body === undefined || body === null) {
    ctx.length = 0;
    return '';
  }
  const isStream = typeof body.pipe === 'function' || body instanceof ReadableStream;
  if (isStream || body instanceof Blob || body instanceof Response) return undefined;
  const text = JSON.stringify(body);
  ctx.length = Buffer.byteLength(text);
  return text;
}

function streamOf(body: unknown): NodeJS.ReadableStream {
  const stream = body instanceof Blob ? body.stream() : body instanceof Response ? (body.body ?? []) : body;
  return typeof (stream as NodeJS.ReadableStream).pipe === 'function'
    ? (stream as NodeJS.ReadableStream)
    : Readable.from(stream as Iterable<Uint8Array>);
}

function writeHead({ res, response, status }: Sent): void {
  const { fields = [] } = response;
  // Libraries such as `cookies` set fields of Node.js, with which those of the app are merged.
  if (res.getHeaderNames().length === 0) {
    res.writeHead(status, fields as string[]);
    return;
  }
  for (let index = 0; index < fields.length; index += 2) {
    res.setHeader(fields[index] as string, fields[index + 1] as FieldValue);
  }
  res.writeHead(status);
}
