/** The deprecation of `GET /v1/pets/{petId}`, and the operations that are served where an option or a setting asks for them. */

import { expect, onTestFinished, test, vi } from 'vitest';
import type { Storage } from '../../../src/application/ports/storage.ts';
import { loadConfig } from '../../../src/composition/config.ts';
import { openParts } from '../../../src/composition/container.ts';
import { serve } from '../../../src/composition/serve.ts';
import { OPERATOR_KEY } from '../../support/process.ts';
import { startServer } from '../../support/server.ts';
import { clientOf } from '../../support/service.ts';
import { REX } from './paths.ts';

const ANY = { 'If-Match': '*' };

test('a storage that cannot change pets serves without the option', async () => {
  const wrap = ({ changes: _, ...others }: Storage) => others as Storage;
  await expect(startServer('memory', { wrap })).resolves.toBeDefined();
});

test.each([false, true])('the methods of the server follow the option: %s', async (experimental) => {
  const options = { experimental, corsOrigins: ['https://example.org'] };
  const { client } = await startServer('memory', options);
  const ofPet = await client.request('OPTIONS', '/v1/pets/1');
  expect(ofPet.headers['allow']).toBe(
    experimental ? 'GET, HEAD, PATCH, DELETE, OPTIONS' : 'GET, HEAD, OPTIONS',
  );
  const preflight = await client.request('OPTIONS', '/v1/pets/1', {
    key: null,
    headers: { Origin: 'https://example.org', 'Access-Control-Request-Method': 'PATCH' },
  });
  expect(preflight.headers['access-control-allow-methods']).toBe(
    experimental ? 'GET,HEAD,POST,PATCH,DELETE,OPTIONS' : 'GET,HEAD,POST,OPTIONS',
  );
  const { paths } = JSON.parse((await client.request('GET', '/openapi.json', { key: null })).body);
  expect(paths['/changes'] !== undefined).toBe(experimental);
  expect(paths['/pets/{petId}'].patch?.['x-stability']).toBe(experimental ? 'experimental' : undefined);
  const created = await client.post(REX);
  expect(created.headers['etag'] !== undefined).toBe(experimental);
  for (const path of ['/v1/changes', '/v1/pets/1']) {
    const { status } = await client.request(path.endsWith('1') ? 'DELETE' : 'GET', path, { headers: ANY });
    expect(status).toBe(experimental ? (path.endsWith('1') ? 204 : 200) : path.endsWith('1') ? 405 : 404);
  }
});

test('a variable of an older release stops the start, and its message says what to use instead', () => {
  expect(() => loadConfig({ WORKERS: '' })).not.toThrow();
  expect(() => loadConfig({ WORKERS: '2', LOG_SAMPLE: '1/100' })).toThrow(
    /^WORKERS: this variable is gone: start several servers of one store behind a proxy.*\nLOG_SAMPLE: this variable is gone: set LOG_LEVEL to warn/,
  );
});

test('a start after the sunset of GET /v1/pets/{petId} warns, and serves it', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2030, 11, 5) });
  onTestFinished(() => void vi.useRealTimers());
  const config = loadConfig({
    DATABASE_URL: 'memory:',
    PORT: '0',
    API_KEYS: OPERATOR_KEY,
    LOG_LEVEL: 'error',
  });
  const parts = await openParts(config, '1.0.0');
  const warn = vi.spyOn(parts.log, 'warn');
  const service = await serve(parts, config, '1.0.0');
  onTestFinished(service.stop);
  expect(warn.mock.calls).toEqual([[expect.stringContaining('GET /v1/pets/{petId} has passed its sunset')]]);
  const client = clientOf(service, OPERATOR_KEY);
  expect((await client.post(REX)).status).toBe(201);
  expect((await client.get('/v1/pets/1')).status).toBe(200);
});
