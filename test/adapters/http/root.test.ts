/** `GET /` leads a browser to the reference page, and responds to other clients with the `Error` object. */

import { describe, expect, test } from 'vitest';
import { sendRaw } from '../../support/connection.ts';
import { sharedServer } from '../../support/server.ts';

const FIREFOX = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
const CHROMIUM = `${FIREFOX.slice(0, -'*/*;q=0.8'.length)}image/avif,image/webp,*/*;q=0.8,application/signed-exchange;v=b3;q=0.7`;

describe('GET /', () => {
  const server = sharedServer('memory');
  const get = (accept: string, method = 'GET', target = '/') =>
    server.client.request(method, target, { key: null, headers: { Accept: accept, 'X-Request-Id': 'same' } });

  test.each([
    FIREFOX,
    CHROMIUM,
    'text/html',
    'TEXT/HTML',
    'text/html, */*',
    'text/html;q=0.2, application/json;q=0.1',
    'application/json;q=0, */*',
    'text/*',
    `${'a/b,'.repeat(3000)}text/html`,
  ])('leads a client that prefers HTML to the reference page: %s', async (accept) => {
    const response = await get(accept);
    expect(response).toMatchObject({
      status: 303,
      body: '',
      headers: { location: '/docs', vary: 'Accept', 'cache-control': 'no-store', 'content-length': '0' },
    });
    expect(response.headers['content-security-policy']).toContain("default-src 'none'");
    expect((await get(accept, 'GET', '/docs')).status).toBe(200);
  });

  test.each([
    '*/*',
    'application/json',
    'application/json, text/html',
    'application/json, text/plain, */*',
    'text/html;q=0.1, application/json',
    'text/html;q=0.1, */*',
    'text/html;q=0',
    'text/html;q=',
    'text/html;q=NaN',
    'text/html;q=-1',
    'text/html\t;q = x',
    'application/xml;q=1, */*;q=0',
    'text',
    '/html',
    'text/html/x',
    'text/html x',
    'text/html;charset=utf-8',
    '"text/html"',
    ',;=,;=q',
    '',
    ','.repeat(15_000),
    ';'.repeat(15_000),
    `text/plain${';a="b,'.repeat(2500)}`,
    'text/htm\u00ff',
  ])('responds with the Error object to any other client: %s', async (accept) => {
    const response = await get(accept);
    expect(response).toMatchObject({ status: 404, headers: { vary: 'Accept' } });
    expect(response.headers).not.toHaveProperty('location');
    expect(JSON.parse(response.body)).toEqual({
      code: 'not_found',
      message: 'no such path; the API is under /v1',
      status: 404,
    });
  });

  test('without Accept, with two lines of it and with HTTP/1.0', async () => {
    const send = (fields: string) => sendRaw(server.origin, `GET / HTTP/1.1\r\nHost: x\r\n${fields}\r\n`);
    expect((await send('')).status).toBe(404);
    expect((await send('Accept: application/json;q=0.5\r\nAccept: text/html\r\n')).status).toBe(303);
    expect((await send('Accept: text/html;q=0.5\r\nAccept: application/json\r\n')).status).toBe(404);
    expect((await sendRaw(server.origin, 'GET / HTTP/1.0\r\nAccept: text/html\r\n\r\n')).status).toBe(303);
    expect(server.errors).toEqual([]);
  });

  test.each([FIREFOX, '*/*'])('HEAD gets the same header fields: %s', async (accept) => {
    const [{ headers: ofGet, ...responseToGet }, { headers: ofHead, ...responseToHead }] = [
      await get(accept),
      await get(accept, 'HEAD'),
    ];
    expect(responseToHead).toEqual({ ...responseToGet, body: '' });
    expect({ ...ofHead, date: '' }).toEqual({ ...ofGet, date: '' });
  });

  test('only the path / redirects, with any query, and only with GET and HEAD', async () => {
    expect((await get(FIREFOX, 'GET', '/?a=b')).headers).toMatchObject({ location: '/docs' });
    for (const target of ['//', '/index.html', '/x', '/v1']) {
      expect((await get(FIREFOX, 'GET', target)).status, target).toBe(target === '/v1' ? 401 : 404);
    }
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
      expect((await get(FIREFOX, method)).status, method).toBe(404);
    }
  });

  describe('with a public URL that has a path', () => {
    const other = sharedServer('memory', { publicUrl: 'https://example.org/shop' });

    test('redirects to the page under this path', async () => {
      const { headers } = await other.client.get('/', { Accept: 'text/html' });
      expect(headers).toMatchObject({ location: '/shop/docs' });
    });
  });

  describe('with CORS', () => {
    const other = sharedServer('memory', { corsOrigins: ['https://shop.example'] });

    test.each([
      ['text/html', 303],
      ['*/*', 404],
    ])('Accept: %s gets %s, which varies by origin too', async (Accept, status) => {
      const response = await other.client.get('/', { Accept, Origin: 'https://shop.example' });
      expect(response).toMatchObject({ status, headers: { vary: 'Origin, Accept' } });
    });
  });
});
