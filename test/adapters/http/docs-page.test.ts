/** The reference page as files; a browser looks at it in test/clients. */

import { get } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { formatJson, parseDocument } from '../../../src/adapters/http/docs/exact-integers.ts';
import { DOCS_ASSETS } from '../../../src/adapters/http/docs.ts';
import { startDocumentedServer } from '../../support/documented-server.ts';

const NO_KEY = { headers: { Authorization: '', 'Accept-Encoding': 'identity' } };

describe('the page', () => {
  test.each(DOCS_ASSETS)('serves $path without a key', async ({ path, type }) => {
    const { ask } = await startDocumentedServer();
    const answer = await ask('GET', path, NO_KEY);
    expect(answer).toMatchObject({
      status: 200,
      headers: {
        'content-type': type,
        'content-length': String(Buffer.byteLength(answer.body)),
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cache-control': 'private, no-cache',
        vary: 'Accept-Encoding',
      },
    });
    expect(answer.headers['content-security-policy']).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
    expect(answer.body).not.toContain('sourceMappingURL');
    const etag = answer.headers['etag'] as string;
    const again = await ask('GET', path, { headers: { ...NO_KEY.headers, 'If-None-Match': etag } });
    expect(again).toMatchObject({ status: 304, body: '', headers: { etag } });
  });

  test('behaves as every path does', async () => {
    const { ask } = await startDocumentedServer();
    expect(await ask('HEAD', '/docs', NO_KEY)).toMatchObject({ status: 200, body: '' });
    expect(await ask('OPTIONS', '/docs', NO_KEY)).toMatchObject({ status: 204 });
    expect(await ask('POST', '/docs', NO_KEY)).toMatchObject({
      status: 405,
      headers: { allow: 'GET, HEAD, OPTIONS' },
    });
    for (const path of ['/docs/', '/docs/none.js', '/docs/..%2fmain.js', '/docs/swagger-ui.LICENSE']) {
      expect(await ask('GET', path, NO_KEY)).toMatchObject({ status: 404 });
    }
  });

  test('has nothing inline and nothing from outside', async () => {
    const { ask } = await startDocumentedServer();
    const { body } = await ask('GET', '/docs', NO_KEY);
    expect(body).toMatch(/<title>Animal Store API<\/title>/);
    expect(body).not.toMatch(/<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)/);
    const targets = [...body.matchAll(/\s(?:src|href)="([^"]*)"/g)].map(([, target]) => target);
    const served = ['/openapi.json', ...DOCS_ASSETS.map(({ path }) => path)].map((path) => path.slice(1));
    expect(targets.length).toBeGreaterThan(5);
    expect(served).toEqual(expect.arrayContaining(targets));
  });

  test.each([
    ['gzip, deflate, br', true],
    ['gzip;q=0.5', true],
    ['br', false],
    ['gzip;q=0', false],
    ['', false],
  ])('for Accept-Encoding %j is compressed: %j', async (acceptEncoding, isCompressed) => {
    const { origin, ask } = await startDocumentedServer();
    const plain = await ask('GET', '/docs/docs.css', NO_KEY);
    const { headers, bytes } = await new Promise<{ headers: NodeJS.Dict<string | string[]>; bytes: Buffer }>(
      (resolve, reject) => {
        const options = { headers: { 'Accept-Encoding': acceptEncoding, Connection: 'close' } };
        get(`${origin}/docs/docs.css`, options, async (answer) => {
          const chunks: Buffer[] = [];
          for await (const chunk of answer) chunks.push(chunk);
          resolve({ headers: answer.headers, bytes: Buffer.concat(chunks) });
        }).on('error', reject);
      },
    );
    expect(headers['content-encoding']).toBe(isCompressed ? 'gzip' : undefined);
    expect(headers['etag'] === plain.headers['etag']).toBe(!isCompressed);
    expect(String(isCompressed ? gunzipSync(bytes) : bytes)).toBe(plain.body);
  });
});

describe('exact integers', () => {
  test.each([
    ['{"id":9007199254740993}', '{\n  "id": 9007199254740993\n}'],
    ['[-9223372036854775808,1,9007199254740991]', '[\n  -9223372036854775808,\n  1,\n  9007199254740991\n]'],
    [
      '{"name":"9007199254740993 \\" 9007199254740993"}',
      '{\n  "name": "9007199254740993 \\" 9007199254740993"\n}',
    ],
    ['[1.5,1e3,-0.25]', '[\n  1.5,\n  1000,\n  -0.25\n]'],
    ['"\\\\"', '"\\\\"'],
  ])('%s keeps its digits', (text, shown) => {
    expect(formatJson(text)).toBe(shown);
  });

  test('what is no JSON is told apart', () => {
    expect(() => formatJson('{"id":9007199254740993')).toThrow(SyntaxError);
  });

  test('a bound that would be rounded is left out, and an example is kept as text', () => {
    const document = parseDocument(
      '{"minimum":-9223372036854775808,"maximum":100,"a":{"value":{"id":9007199254740993}},"b":{"value":{"id":1}}}',
    );
    expect(document).toEqual({
      maximum: 100,
      a: { value: '{\n  "id": 9007199254740993\n}' },
      b: { value: { id: 1 } },
    });
  });
});
