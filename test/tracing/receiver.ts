/** Receives spans over OTLP/HTTP with JSON, as a collector of OpenTelemetry does. */

import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { listen } from '../support/sockets.ts';

/** The numbers of `SpanKind` in OTLP. */
export const KIND = { server: 2, client: 3 } as const;

/** A span in the JSON of OTLP. Integers of 64 bits can be strings. */
interface OtlpSpan {
  readonly name: string;
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly attributes: readonly {
    readonly key: string;
    readonly value: { readonly stringValue?: string; readonly intValue?: string | number };
  }[];
}

interface OtlpRequest {
  readonly resourceSpans: readonly {
    readonly scopeSpans: readonly {
      readonly scope: { readonly name: string };
      readonly spans: readonly OtlpSpan[];
    }[];
  }[];
}

export interface ReceivedSpan extends Omit<OtlpSpan, 'attributes'> {
  readonly scope: string;
  readonly attributes: Readonly<Record<string, string | number>>;
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
}

function spansOf({ resourceSpans }: OtlpRequest): ReceivedSpan[] {
  return resourceSpans
    .flatMap(({ scopeSpans }) => scopeSpans)
    .flatMap(({ scope, spans }) =>
      spans.map(({ attributes, ...span }) => {
        const values = attributes.map(({ key, value }) => [key, value.stringValue ?? Number(value.intValue)]);
        return { ...span, scope: scope.name, attributes: Object.fromEntries(values) };
      }),
    );
}
