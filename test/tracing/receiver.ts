/** Receives spans over OTLP/HTTP with JSON, as a collector of OpenTelemetry does. */

import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect } from 'vitest';
import { listen } from '../support/sockets.ts';

/** The numbers of `SpanKind` in OTLP. */
export const KIND = { internal: 1, server: 2, client: 3 } as const;

export interface ReceivedSpan {
  readonly scope: string;
  readonly name: string;
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  /** Empty if the span is the first one of its trace. */
  readonly parentSpanId: string;
  readonly attributes: Readonly<Record<string, string | number>>;
  /** The start and the end, in nanoseconds since the Unix epoch. */
  readonly start: bigint;
  readonly end: bigint;
}

/** A span in the JSON of OTLP. Integers of 64 bits are strings. */
interface OtlpSpan extends Pick<ReceivedSpan, 'name' | 'kind' | 'traceId' | 'spanId'> {
  readonly parentSpanId?: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly {
    readonly key: string;
    readonly value: { readonly stringValue?: string; readonly intValue?: string | number };
  }[];
}

interface OtlpScope {
  readonly scope: { readonly name: string };
  readonly spans: readonly OtlpSpan[];
}

interface OtlpRequest {
  readonly resourceSpans: readonly { readonly scopeSpans: readonly OtlpScope[] }[];
}

export class Receiver {
  /** The received messages. */
  readonly messages: string[] = [];
  readonly spans: ReceivedSpan[] = [];
  url = '';

  /** Starts a receiver, which stops at the end of the test. */
  static async start(): Promise<Receiver> {
    const receiver = new Receiver();
    const server = createServer(async (request, response) => {
      const message = await text(request);
      receiver.messages.push(message);
      receiver.spans.push(...spansOf(JSON.parse(message)));
      response.setHeader('Content-Type', 'application/json').end('{}');
    });
    receiver.url = await listen(server);
    return receiver;
  }

  /** Resolves with the span that has this id, when it has arrived. */
  async span(id: unknown): Promise<ReceivedSpan> {
    const find = () => this.spans.find(({ spanId }) => spanId === id);
    await expect.poll(find, { timeout: 100_000 }).toBeDefined();
    return find() as ReceivedSpan;
  }

  /**
   * Returns the children of a span in the order in which they started. A child ends before its parent, so it has
   * arrived when the parent has arrived.
   */
  childrenOf({ spanId, traceId }: ReceivedSpan): ReceivedSpan[] {
    return this.spans
      .filter((span) => span.parentSpanId === spanId && span.traceId === traceId)
      .toSorted((one, other) => Number(one.start - other.start));
  }
}

function spansOf({ resourceSpans }: OtlpRequest): ReceivedSpan[] {
  return resourceSpans
    .flatMap(({ scopeSpans }) => scopeSpans)
    .flatMap(({ scope, spans }) => spans.map((span) => received(scope.name, span)));
}

function received(scope: string, span: OtlpSpan): ReceivedSpan {
  const { name, kind, traceId, spanId, parentSpanId = '', attributes } = span;
  const values = attributes.map(({ key, value }) => [key, value.stringValue ?? Number(value.intValue)]);
  return {
    scope,
    name,
    kind,
    traceId,
    spanId,
    parentSpanId,
    attributes: Object.fromEntries(values),
    start: BigInt(span.startTimeUnixNano),
    end: BigInt(span.endTimeUnixNano),
  };
}
