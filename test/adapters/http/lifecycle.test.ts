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

test('without the option, a storage that cannot change pets serves, and there is no list of changes', async () => {
  const wrap = ({ changes: _, ...others }: Storage) => others as Storage;
  expect((await (await startServer('memory', { wrap })).client.get('/v1/changes')).status).toBe(404);
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
  const settings = { DATABASE_URL: 'memory:', PORT: '0', API_KEYS: OPERATOR_KEY, LOG_LEVEL: 'error' };
  const config = loadConfig(settings);
  const parts = await openParts(config, '1.0.0');
  const warn = vi.spyOn(parts.log, 'warn');
  const service = await serve(parts, config, '1.0.0');
  onTestFinished(service.stop);
  expect(warn.mock.calls).toEqual([[expect.stringContaining('GET /v1/pets/{petId} has passed its sunset')]]);
  const client = clientOf(service, OPERATOR_KEY);
  expect((await client.post(REX)).status).toBe(201);
  expect((await client.get('/v1/pets/1')).status).toBe(200);
});
