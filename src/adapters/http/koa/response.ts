import { validateHeaderName, validateHeaderValue } from 'node:http';
import { pipeline, Readable } from 'node:stream';
import type Koa from 'koa';
import { type FieldValue, ResponseFields } from '../api/response-fields.ts';

/** The statuses whose responses have no body. */
const EMPTY = new Set([204, 205, 304]);

interface CollectedResponse extends Koa.Response {
  collected?: ResponseFields;
}

function collected(response: CollectedResponse): ResponseFields {
  response.collected ??= new ResponseFields();
  return response.collected;
}

/**
 * Lets the responses of an app collect their header fields, which {@link writeResponse} writes at once. The setters of Koa
 * would call `setHeader` of Node.js for each field, which costs more than the rest of Koa. All other members of
 * `ctx.response` call these, and stay as they are.
 */
export function collectFields(app: Koa): void {
  const methods: ThisType<CollectedResponse> = {
    get(name: string) {
      return (collected(this).get(name) ?? this.res.getHeader(name)) as string;
    },
    has(name: string) {
      return collected(this).has(name) || this.res.hasHeader(name);
    },
    set(field: string | Record<string, unknown>, value?: unknown) {
      if (this.headerSent) return;
      if (typeof field !== 'string') {
        for (const name in field) this.set(name, field[name] as string);
        return;
      }
      validateHeaderName(field);
      validateHeaderValue(field, value as string);
      collected(this).set(field, value as FieldValue);
    },
    remove(name: string) {
      collected(this).remove(name);
      this.res.removeHeader(name);
    },
    vary(name: string) {
      if (!this.headerSent) collected(this).vary(name);
    },
  };
  Object.assign(app.response, methods);
  Object.defineProperty(app.response, 'header', {
    get(this: CollectedResponse) {
      const { list } = collected(this);
      const fields = { ...this.res.getHeaders() };
      for (let index = 0; index < list.length; index += 2) {
        fields[(list[index] as string).toLowerCase()] = list[index + 1] as string;
      }
      return fields;
    },
  });
}

/** Writes the whole response as Koa would, unless a middleware has written it. Throws if it cannot be written. */
export function writeResponse(ctx: Koa.Context): void {
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
function textOf(ctx: Koa.Context): string | Buffer | undefined {
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

function writeHead({ res, response, status }: Koa.Context): void {
  const { list } = collected(response);
  // Libraries such as `cookies` set fields of Node.js, with which those of the app are merged.
  if (res.getHeaderNames().length === 0) {
    res.writeHead(status, list as string[]);
    return;
  }
  for (let index = 0; index < list.length; index += 2) {
    res.setHeader(list[index] as string, list[index + 1] as FieldValue);
  }
  res.writeHead(status);
}
