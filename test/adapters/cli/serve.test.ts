import type { Writable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../../src/composition/config.ts';
import { startService } from '../../../src/composition/serve.ts';
import { commandLine, failingOutput } from './cli.ts';

/** Serves from memory, sends one request, and then aborts the signal. */
async function serve(environment: Record<string, string> = {}, stdout?: Writable) {
  const end = new AbortController();
  let status: number | undefined;
  const { run } = commandLine();
  const ended = await run(['serve'], {
    signal: end.signal,
    ...(stdout && { stdout }),
    startService: async () => {
      const config = loadConfig({ PORT: '0', DATABASE_URL: 'memory:', LOG_LEVEL: 'silent', ...environment });
      const service = await startService(config, '1.2.3');
      const live = new URL('/livez', service.url);
      setTimeout(async () => {
        status = (await fetch(live, { headers: { Connection: 'close' } })).status;
        end.abort();
      }, 20);
      return service;
    },
  });
  return { ...ended, livez: status };
}

describe('serve', () => {
  test('prints the URL, and the first key of a store that has none', async () => {
    const { status, out, err, livez } = await serve();
    expect([status, err, livez]).toEqual([0, '', 200]);
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
      expect(err).toContain('create another: keys create --name NAME, with the same settings');
    },
  );
});
