/** The document as it goes out, for whichever address it is asked for. */

import { describe, expect, test } from 'vitest';
import { openApiDocument } from '../../../src/adapters/http/openapi.ts';
import { documentAt } from '../../../src/adapters/http/openapi-bytes.ts';
import { Connection } from '../../support/connection.ts';
import { startDocumentedServer } from '../../support/documented-server.ts';

describe('the document at an address', () => {
  test.each([
    '',
    'http://127.0.0.1:3000',
    'https://pets.example.org/v1',
    'https://pets.example.org/$&$1"\\',
    `https://${'x'.repeat(255)}`,
    `https://pets.example.org/${'x'.repeat(100_000)}`,
  ])('is the one that is made for it: %.60s', (origin) => {
    expect(documentAt(origin).identity().toString()).toBe(openApiDocument(origin));
  });

  test('has an entity tag that tells addresses apart', () => {
    const origins = ['', 'http://x', 'http://y', 'https://x', 'http://x:1'];
    const tags = origins.map((origin) => documentAt(origin).tag);
    expect(new Set(tags).size).toBe(origins.length);
    expect(origins.map((origin) => documentAt(origin).tag)).toEqual(tags);
  });

  test('is made once, and given again as long as it is cached', () => {
    expect(documentAt('http://same').identity()).toBe(documentAt('http://same').identity());
  });

  test('is cached for a few addresses only', () => {
    const first = documentAt('http://first').identity();
    for (let index = 0; index < 100; index += 1) documentAt(`http://x${index}`);
    const again = documentAt('http://first').identity();
    expect(again).not.toBe(first);
    expect(again.equals(first)).toBe(true);
  });
});

test('1,700 requests in one write, each with another Host, are about the document with theirs', async () => {
  const { origin } = await startDocumentedServer();
  const connection = await Connection.open(origin);
  const hosts = Array.from({ length: 1700 }, (_, index) => `x${index}`);
  connection.write(hosts.map((host) => `HEAD /openapi.json HTTP/1.1\r\nHost: ${host}\r\n\r\n`).join(''));
  for (const host of hosts) {
    const { tag } = documentAt(`http://${host}`);
    expect(await connection.next()).toMatchObject({ status: 200, headers: { etag: `"${tag}"` } });
  }
  connection.destroy();
});
