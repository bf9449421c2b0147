import type { Writable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../../src/composition/config.ts';
import { startService } from '../../../src/composition/serve.ts';
import { commandLine, failingOutput } from './cli.ts';

/** Serves from memory, sends one request, and then aborts the signal. */
async function serve(environment: Record<string, string> = {}, stdout?: Writable) {
  const end = new AbortController();
  let status: number | undefined;
  let given: unknown;
  let isStopped = false;
  const { run } = commandLine();
  const ended = await run(['--database-url', 'memory:', 'serve', '--host', '127.0.0.1', '--port', '0'], {
    signal: end.signal,
    ...(stdout && { stdout }),
    startService: async (options) => {
      given = options;
      const config = loadConfig({ PORT: '0', DATABASE_URL: 'memory:', LOG_LEVEL: 'silent', ...environment });
      const service = await startService(config, '1.2.3');
      const live = new URL('/livez', service.url);
      setTimeout(async () => {
        status = (await fetch(live, { headers: { Connection: 'close' } })).status;
        end.abort();
      }, 20);
      return {
        ...service,
        async stop() {
          await service.stop();
          isStopped = true;
        },
      };
    },
  });
  return { ...ended, livez: status, given, isStopped };
}

describe('serve', () => {
  test('passes its options on, prints the URL, and the first key of a store that has none', async () => {
    const { status, out, err, livez, given, isStopped } = await serve();
    expect([status, err, livez, isStopped]).toEqual([0, '', 200, true]);
    expect(given).toEqual({ databaseUrl: 'memory:', host: '127.0.0.1', port: '0', isDiscarded: false });
    expect(out).toMatch(
      /^Listening on (http:\/\/127\.0\.0\.1:\d+)\/v1\nReference page: \1\/docs\nStore: memory:\n\n/,
    );
    expect(out).toMatch(/\n {2}pets_[0-9A-Za-z]{49}\n/);
  });

  test.each(['ENOSPC', 'EPIPE'])(
    'keeps running after %s, and says how to replace the lost key',
    async (code) => {
      const { status, err, livez } = await serve({}, failingOutput(code));
      expect([status, livez]).toEqual([0, 200]);
      expect(err).toContain(`standard output cannot be written: ${code}: no`);
      expect(err).toContain('create another: animal-store keys create --name NAME, with the same settings');
    },
  );

  test.each([
    ['ENOSPC', 'animal-store: standard output cannot be written: ENOSPC: no\n'],
    ['EPIPE', ''],
  ])('keeps running after %s without a first key', async (code, message) => {
    const { status, err, livez } = await serve({ FIRST_KEY: 'none' }, failingOutput(code));
    expect([status, livez, err]).toEqual([0, 200, message]);
  });
});
