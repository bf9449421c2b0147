/** Tests the bytes of the OpenAPI document, which depend on the address of the server. */

import { describe, expect, test } from 'vitest';
import { documentAt } from '../../../src/adapters/http/openapi/cached-document.ts';
import { openApiDocument } from '../../../src/adapters/http/openapi/document.ts';
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
  ])('equals the document that is created for the address: %.60s', (origin) => {
    expect(documentAt(origin).identity().toString()).toBe(openApiDocument(origin));
  });

  test('has a different entity tag for each address', () => {
    const origins = ['', 'http://x', 'http://y', 'https://x', 'http://x:1'];
    const tags = origins.map((origin) => documentAt(origin).tag);
    expect(new Set(tags).size).toBe(origins.length);
    expect(origins.map((origin) => documentAt(origin).tag)).toEqual(tags);
  });

  test('is created once while it is cached', () => {
    expect(documentAt('http://same').identity()).toBe(documentAt('http://same').identity());
  });

  test('is cached for a few addresses only', () => {
    const first = documentAt('http://first').identity();
    for (let index = 0; index < 100; index += 1) documentAt(`http://x${index}`);
    const again = documentAt('http://first').identity();
    expect(again).not.toBe(first);
    expect(again).toEqual(first);
  });
});

test('1,700 requests in one write, each with another Host, get the documents of their hosts', async () => {
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
