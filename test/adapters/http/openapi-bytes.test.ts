/** The document as it goes out, for whichever address it is asked for. */

import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { openApiDocument } from '../../../src/adapters/http/openapi.ts';
import { documentAt } from '../../../src/adapters/http/openapi-bytes.ts';
import { Connection } from '../../support/connection.ts';
import { startDocumentedServer } from '../../support/documented-server.ts';

/** Milliseconds, the best of several runs. */
function timeOf(run: () => void): number {
  const times = Array.from({ length: 5 }, () => {
    const started = performance.now();
    run();
    return performance.now() - started;
  });
  return Math.min(...times);
}

describe('the document at an address', () => {
  test.each([
    '',
    'http://127.0.0.1:3000',
    'https://pets.example.org/v1',
    'https://pets.example.org/$&$1"\\',
    `https://${'x'.repeat(255)}`,
    `https://pets.example.org/${'x'.repeat(100_000)}`,
  ])('is the one that is made for it: %.60s', (origin) => {
    const { identity, gzip } = documentAt(origin);
    expect(identity().toString()).toBe(openApiDocument(origin));
    expect(gunzipSync(gzip).equals(identity())).toBe(true);
    expect(gzip.length).toBeLessThan(6000 + origin.length);
  });

  test('has an entity tag that tells addresses apart', () => {
    const origins = ['', 'http://x', 'http://y', 'https://x', 'http://x:1'];
    const tags = origins.map((origin) => documentAt(origin).tag);
    expect(new Set(tags).size).toBe(origins.length);
    expect(origins.map((origin) => documentAt(origin).tag)).toEqual(tags);
  });

  test('is made once, and given again as long as it is cached', () => {
    expect(documentAt('http://same').gzip).toBe(documentAt('http://same').gzip);
  });

  test('is cached for a few addresses only', () => {
    const first = documentAt('http://first').gzip;
    for (let index = 0; index < 100; index += 1) documentAt(`http://x${index}`);
    expect(documentAt('http://first').gzip).not.toBe(first);
    expect(documentAt('http://first').gzip.equals(first)).toBe(true);
  });

  test('costs far less than a document made anew, for an address that was never seen', () => {
    let port = 0;
    const made = timeOf(() => {
      for (let index = 0; index < 50; index += 1) openApiDocument(`http://made:${port++}`);
    });
    const filled = timeOf(() => {
      for (let index = 0; index < 50; index += 1) documentAt(`http://filled:${port++}`);
    });
    expect(filled).toBeLessThan(made / 3);
  });
});

test('1,700 requests in one write, each with another Host, hold up nobody', async () => {
  const { origin } = await startDocumentedServer();
  const message = (path: string, host: string) =>
    `HEAD ${path} HTTP/1.1\r\nHost: ${host}\r\nAccept-Encoding: gzip\r\n\r\n`;
  const flood = Array.from({ length: 1700 }, (_, index) => message('/openapi.json', `x${index}`)).join('');
  const waited: number[] = [];
  for (let index = 0; index < 4; index += 1) {
    const [flooding, other] = [await Connection.open(origin), await Connection.open(origin)];
    flooding.write(flood);
    const started = performance.now();
    other.write(message('/livez', 'x'));
    await other.next();
    waited.push(performance.now() - started);
    flooding.destroy();
    other.destroy();
  }
  const madeAnew = timeOf(() => {
    for (let index = 0; index < 170; index += 1) openApiDocument(`http://x${index}`);
  });
  expect(Math.min(...waited)).toBeLessThan((10 * madeAnew) / 2);
});
