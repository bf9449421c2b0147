/** Parses the responses of a connection, as strictly as RFC 9112 allows a client to be. */

import { STATUS_CODES } from 'node:http';

export interface Response {
  readonly status: number;
  /** As received. */
  readonly fields: readonly (readonly [name: string, value: string])[];
  readonly head: string;
  readonly body: Buffer;
}

const HEAD_END = '\r\n\r\n';
const STATUS_LINE = /^HTTP\/1\.1 ([1-5]\d\d) ([\x20-\x7e]*)$/;
const FIELD = /^([!#$%&'*+.^_`|~\w-]+): ([\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?)$/;

export class ResponseReader {
  /** The final responses. */
  readonly responses: Response[] = [];
  /** The statuses of interim responses, such as 100. */
  readonly interim: number[] = [];
  /** What is wrong with the bytes. Nothing after it is parsed. */
  fault: string | undefined;
  readonly #methods: readonly string[];
  /** What was received of an incomplete response, and the number of bytes with which it may be complete. */
  #chunks: Buffer[] = [];
  #size = 0;
  #wanted = 0;

  /** @param methods of the requests, in order: a response to HEAD has no body */
  constructor(methods: readonly string[]) {
    this.#methods = methods;
  }

  /** The bytes of an incomplete response. */
  get rest(): Buffer {
    const rest = this.#chunks.length === 1 ? (this.#chunks[0] as Buffer) : Buffer.concat(this.#chunks);
    this.#chunks = [rest];
    return rest;
  }

  feed(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    while (this.fault === undefined && this.#size >= this.#wanted && this.#take()) {}
  }

  #take(): boolean {
    const end = this.rest.indexOf(HEAD_END);
    if (end === -1) return false;
    const head = this.rest.toString('latin1', 0, end);
    const [statusLine = '', ...lines] = head.split('\r\n');
    const [, code = '', reason = ''] = STATUS_LINE.exec(statusLine) ?? [];
    const status = Number(code);
    if (code === '' || reason !== STATUS_CODES[status])
      return this.#stop(`the status line ${quote(statusLine)}`);
    const matches = lines.map((line) => FIELD.exec(line));
    const bad = lines.find((_, index) => matches[index] === null);
    if (bad !== undefined) return this.#stop(`the header line ${quote(bad)}`);
    const fields = matches.map((match) => [match?.[1] ?? '', match?.[2] ?? ''] as const);
    const start = end + HEAD_END.length;
    const length = this.#lengthOf(status, fields, start);
    if (length === undefined) return false;
    this.#wanted = start + length;
    if (this.#size < this.#wanted) return false;
    const body = this.rest.subarray(start, start + length);
    this.#chunks = [this.rest.subarray(start + length)];
    this.#size -= start + length;
    this.#wanted = 0;
    if (status < 200) this.interim.push(status);
    else this.responses.push({ status, fields, head, body });
    return true;
  }

  /** `undefined` when the framing is wrong. This server sends a Content-Length with every response that may have one. */
  #lengthOf(status: number, fields: Response['fields'], start: number): number | undefined {
    const values = fields
      .filter(([name]) => name.toLowerCase() === 'content-length')
      .map(([, value]) => value);
    const isCoded = fields.some(([name]) => name.toLowerCase() === 'transfer-encoding');
    const hasNoBody = status < 200 || status === 204 || status === 304;
    const isRight = hasNoBody
      ? values.length === 0
      : values.length === 1 && /^(0|[1-9]\d*)$/.test(values[0] ?? '');
    if (isCoded || !isRight) {
      this.#stop(`the framing of a ${status}: ${quote(String(fields))}`);
      return undefined;
    }
    return hasNoBody || this.#isWithoutBody(status, fields, start) ? 0 : Number(values[0]);
  }

  /** The response to a malformed message closes the connection, and has a body even if the method was HEAD. */
  #isWithoutBody(status: number, fields: Response['fields'], start: number): boolean {
    if (this.#methods[this.responses.length] !== 'HEAD') return false;
    const isClosing = fields.some(([name, value]) => name === 'Connection' && value === 'close');
    return !(isClosing && status >= 400 && this.rest[start] === '{'.charCodeAt(0));
  }

  #stop(fault: string): false {
    this.fault = fault;
    return false;
  }
}

/** Returns the value of a field by its name in lower case. */
export function fieldOf({ fields }: Response, name: string): string | undefined {
  return fields.find(([given]) => given.toLowerCase() === name)?.[1];
}

/** Whether the response is the last one of its connection. */
export function isClosing(response: Response): boolean {
  return fieldOf(response, 'connection') === 'close';
}

export function quote(text: string): string {
  return JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}…` : text);
}
