/** A response that passes its header fields to Node.js at once, which costs less than one by one. */

import { ServerResponse, validateHeaderName, validateHeaderValue } from 'node:http';

type Value = number | string | readonly string[];

export class CollectedResponse extends ServerResponse {
  /** Set by the server. Returns whether the connection is closed after this response. */
  isLast: ((response: CollectedResponse) => boolean) | undefined = undefined;
  /** Name, value, name, value: a response has few fields, and Node.js takes them so. */
  readonly #fields: (string | Value)[] = [];

  override setHeader(name: string, value: Value): this {
    validateHeaderName(name);
    validateHeaderValue(name, value as string);
    const index = this.#indexOf(name);
    if (index === -1) this.#fields.push(name, value);
    else this.#fields[index + 1] = value;
    return this;
  }

  override getHeader(name: string): number | string | string[] | undefined {
    const index = this.#indexOf(name);
    return index === -1 ? undefined : (this.#fields[index + 1] as string);
  }

  override hasHeader(name: string): boolean {
    return this.#indexOf(name) !== -1;
  }

  override removeHeader(name: string): void {
    const index = this.#indexOf(name);
    if (index !== -1) this.#fields.splice(index, 2);
  }

  override getHeaderNames(): string[] {
    return this.#fields.filter((_, index) => index % 2 === 0).map((name) => String(name).toLowerCase());
  }

  override getHeaders(): Record<string, number | string | string[] | undefined> {
    return Object.fromEntries(this.getHeaderNames().map((name) => [name, this.getHeader(name)]));
  }

  /** Node.js calls it before the first byte of a response. */
  override writeHead(status: number, ...given: unknown[]): this {
    if (given.length > 0) this.#add(given);
    if (this.isLast?.(this)) this.shouldKeepAlive = false;
    return super.writeHead(status, this.#fields as string[]);
  }

  /** Adds what a caller has passed to {@link writeHead}: a message, fields, or both. */
  #add([first, second]: readonly unknown[]): void {
    if (typeof first === 'string') this.statusMessage = first;
    const fields = (typeof first === 'string' ? second : first) ?? {};
    for (const [name, value] of Object.entries(fields)) this.setHeader(name, value);
  }

  #indexOf(name: string): number {
    const fields = this.#fields as string[];
    for (let index = 0; index < fields.length; index += 2) {
      const each = fields[index] as string;
      if (each === name) return index;
      if (each.length === name.length && each.toLowerCase() === name.toLowerCase()) return index;
    }
    return -1;
  }
}
