import type { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import { logTo } from '../../../src/adapters/log/log.ts';
import { logObserver } from '../../../src/adapters/log/observer.ts';
import { readableLine } from '../../../src/adapters/log/readable.ts';
import type { RequestOutcome } from '../../../src/application/ports/request-observer.ts';
import { OUTCOME } from '../../support/outcome.ts';

function linesOf(log: (logger: pino.Logger) => void, hasColours = false): string {
  let text = '';
  log(logTo({ write: (line) => (text += readableLine(line, hasColours)) }, 'info'));
  return text.replaceAll(/\d\d:\d\d:\d\d/g, '12:03:04');
}

const requests = (...given: readonly Partial<RequestOutcome>[]) =>
  linesOf((log) => {
    for (const each of given) logObserver(log).onRequest?.({ ...OUTCOME, ...each });
  });

describe('the log on a terminal', () => {
  test('has a short line for each request', () => {
    expect(
      requests(
        {},
        { keyId: undefined, route: undefined, path: '/v1/a b', status: 401 },
        { status: 500 },
        { aborted: true },
      ),
    ).toBe(`12:03:04 GET /v1/pets 200 1.2 ms  1
12:03:04 GET /v1/a b 401 1.2 ms
12:03:04 GET /v1/pets 500 1.2 ms id-1  1
12:03:04 GET /v1/pets 200 1.2 ms aborted  1
`);
  });

  test('has the level, the message, the facts and the error of other lines', () => {
    const text = linesOf((log) => {
      log.info({ url: 'http://x/v1', port: 1 }, 'listening');
      log.warn('a warning');
      log.error({ err: new Error('the disk is full'), requestId: 'id-1' }, 'request failed');
    });
    expect(text).toMatch(
      /^12:03:04 INFO listening {2}url=http:\/\/x\/v1 {2}port=1\n12:03:04 WARN a warning\n12:03:04 ERROR request failed {2}requestId=id-1\nError: the disk is full\n +at /,
    );
  });

  test('has the colours of statuses and levels if the terminal has colours', () => {
    const text = linesOf((log) => {
      const { onRequest } = logObserver(log);
      for (const status of [200, 304, 404, 503]) onRequest?.({ ...OUTCOME, status });
      log.warn('a warning');
    }, true);
    expect(text.match(/\[3\dm\w+/g)).toEqual(['[32m200', '[36m304', '[33m404', '[31m503', '[33mWARN']);
  });

  test('no text of a client reaches the terminal as a control sequence', () => {
    const evil = 'a\u001b[2J\u009b1m\u202e\r\nb';
    const text =
      requests({ method: evil, keyId: evil }) +
      linesOf((log) => {
        log.error({ err: new Error(evil), detail: { evil } }, evil);
        log.info({ [evil]: evil }, 'fields');
      });
    expect(text).toContain('detail={"evil":"a');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what the test looks for
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
    expect(text).toContain('a\\u001b[2J');
  });
});
