/** Requests as text, which a test sends many at a time on one connection. */

import { numberedJson } from './pets.ts';

/** Returns the numbers from 0 to `count` - 1. */
export function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}

export interface PipelineRequests {
  get(target: string): string;
  /** Creates the pet with this number, with a body of at least the given size. */
  create(number: number, size?: number): string;
  /** Changes or removes a pet. */
  write(method: 'PATCH' | 'DELETE', target: string, ifMatch: string, body?: string): string;
}

export function pipelineOf(key: string): PipelineRequests {
  const request = (start: string, body = '', more = '') =>
    `${start} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n${more}${body && typeAndLength(body)}\r\n${body}`;
  return {
    get: (target) => request(`GET ${target}`),
    create: (number, size = 0) => request('POST /v1/pets', numberedJson(number).padEnd(size)),
    write: (method, target, tag, body) => request(`${method} ${target}`, body, `If-Match: ${tag}\r\n`),
  };
}

function typeAndLength(body: string): string {
  return `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`;
}
