/** Delivers one message on its own connection, and collects the responses. */

import { connect, type Socket } from 'node:net';
import { fieldOf, isClosing, type Response, ResponseReader } from '../../support/response-reader.ts';
import type { Message } from '../messages/message.ts';

export interface Exchange {
  readonly responses: readonly Response[];
  readonly interim: readonly number[];
  /** Why the received bytes are not HTTP; left out when they are. */
  readonly fault: string | undefined;
  /** Bytes after the last complete response. */
  readonly rest: Buffer;
  /** Which side closed the connection, or that it stayed open until the timeout. */
  readonly end: 'server' | 'client' | 'reset' | 'hung';
  /** Whether a plain request after the message got its response, that is, both sides agree where the message ends. */
  readonly isInStep: boolean;
}

/** In milliseconds. The timeout for a response, and for closing a connection. */
const RESPONSE_TIMEOUT = 5000;
const CLOSE_TIMEOUT = 8000;

/** In milliseconds. How long a client waits for a response to a message that may be incomplete. */
const SILENCE = 150;

export async function exchange(port: number, message: Message): Promise<Exchange> {
  const { requests, delivery, isComplete, number } = message;
  const probeId = `p-${number}`;
  const connection = new Connection(port, [...requests.map(({ method }) => method), 'GET']);
  await connection.opened;
  await send(connection, message);
  if (delivery.ending === 'reset') connection.reset();
  else if (delivery.ending === 'half-close') connection.halfClose();
  else {
    const isDue = () => connection.responses.length >= requests.length || connection.isDone;
    await connection.until(isDue, isComplete ? RESPONSE_TIMEOUT : SILENCE);
    const known = connection.responses.length;
    connection.write(
      `GET /livez HTTP/1.1\r\nHost: x\r\nX-Request-Id: ${probeId}\r\nConnection: close\r\n\r\n`,
    );
    await connection.until(
      () => connection.isDone || connection.responses.length > known,
      isComplete ? RESPONSE_TIMEOUT : SILENCE,
    );
    await connection.until(() => connection.isDone, SILENCE);
    connection.halfClose();
  }
  await connection.until(() => connection.isEnded, CLOSE_TIMEOUT);
  const { responses, interim, fault, rest } = connection;
  const end = connection.end ?? 'hung';
  connection.destroy();
  const last = responses.at(-1);
  const isInStep = last !== undefined && last.status === 200 && fieldOf(last, 'x-request-id') === probeId;
  return { responses: isInStep ? responses.slice(0, -1) : responses, interim, fault, rest, end, isInStep };
}

/** Writes segment by segment, as long as the server reads. */
async function send(connection: Connection, { bytes, delivery }: Message): Promise<void> {
  const ends = [...delivery.cuts.filter((cut) => cut < delivery.sent), delivery.sent];
  let start = 0;
  for (const end of ends) {
    if (connection.isDone) return;
    await connection.segment(bytes.subarray(start, end));
    start = end;
  }
}

class Connection {
  readonly opened: Promise<void>;
  end: Exchange['end'] | undefined;
  readonly #socket: Socket;
  readonly #reader: ResponseReader;
  #changed: () => void = () => {};

  constructor(port: number, methods: readonly string[]) {
    this.#reader = new ResponseReader(methods);
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true });
    this.opened = new Promise((resolve, reject) => {
      this.#socket.once('connect', resolve);
      this.#socket.once('error', reject);
    });
    this.#socket.on('error', () => this.#ended('reset'));
    this.#socket.on('end', () => this.#ended('server'));
    this.#socket.on('data', (chunk: Buffer) => {
      this.#reader.feed(chunk);
      this.#changed();
    });
  }

  get responses(): readonly Response[] {
    return this.#reader.responses;
  }

  get interim(): readonly number[] {
    return this.#reader.interim;
  }

  get fault(): string | undefined {
    return this.#reader.fault;
  }

  get rest(): Buffer {
    return this.#reader.rest;
  }

  get isEnded(): boolean {
    return this.end !== undefined;
  }

  /** Whether the server would ignore further bytes. */
  get isDone(): boolean {
    const last = this.responses.at(-1);
    return this.isEnded || this.fault !== undefined || (last !== undefined && isClosing(last));
  }

  /** Writes bytes that must arrive as a separate segment. */
  segment(bytes: Buffer): Promise<void> {
    return new Promise((resolve) => this.#socket.write(bytes, () => setImmediate(resolve)));
  }

  write(text: string): void {
    if (!this.isDone) this.#socket.write(text);
  }

  halfClose(): void {
    if (!this.isEnded) this.#socket.end();
  }

  reset(): void {
    this.#ended('client');
    this.#socket.resetAndDestroy();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  /** Waits until the condition holds or the time in milliseconds has passed. */
  until(isSo: () => boolean, timeout: number): Promise<void> {
    return new Promise((resolve) => {
      const finish = () => {
        clearTimeout(timer);
        this.#changed = () => {};
        resolve();
      };
      const timer = setTimeout(finish, timeout);
      this.#changed = () => {
        if (isSo()) finish();
      };
      this.#changed();
    });
  }

  #ended(end: Exchange['end']): void {
    this.end ??= end;
    this.#changed();
  }
}
