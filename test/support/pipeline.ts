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
}

export function pipelineOf(key: string): PipelineRequests {
  const fields = `Host: x\r\nAuthorization: Bearer ${key}\r\n`;
  return {
    get: (target) => `GET ${target} HTTP/1.1\r\n${fields}\r\n`,
    create(number, size = 0) {
      const body = numberedJson(number).padEnd(size);
      return `POST /v1/pets HTTP/1.1\r\n${fields}Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
    },
  };
}
