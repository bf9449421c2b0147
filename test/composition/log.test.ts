import { pino } from 'pino';
import { expect, test } from 'vitest';
import type { AnsweredRequest } from '../../src/adapters/http/answer.ts';
import { requestLog } from '../../src/composition/log.ts';

function logged(requests: readonly AnsweredRequest[], level = 'info'): Record<string, unknown>[] {
  const lines: string[] = [];
  const log = pino({ level, base: null, timestamp: false }, { write: (line) => lines.push(line) });
  const onAnswer = requestLog(log);
  for (const request of requests) onAnswer?.(request);
  return lines.map((line) => JSON.parse(line));
}

const list: AnsweredRequest = {
  method: 'GET',
  route: '/v1/pets',
  status: 200,
  ms: 0.25,
  requestId: 'first',
  keyId: '1',
  aborted: undefined,
};

test('a line has everything that is known of its own request, whatever came before', () => {
  const requests: AnsweredRequest[] = [
    list,
    { ...list, ms: 1, requestId: 'second' },
    { ...list, status: 304, requestId: 'third' },
    { ...list, keyId: '2', requestId: 'fourth', aborted: true },
    { ...list, method: 'POST', status: 201, requestId: 'fifth' },
    { ...list, route: undefined, status: 401, keyId: undefined, requestId: 'sixth' },
    { ...list, requestId: 'seventh' },
  ];
  const expected = requests.map((request) => ({
    level: 30,
    ...JSON.parse(JSON.stringify(request)),
    msg: 'request',
  }));
  expect(logged(requests)).toEqual(expected);
});

test('more kinds of requests than are kept have their lines too', () => {
  const requests = Array.from({ length: 2500 }, (_, index) => ({ ...list, keyId: String(index % 1200) }));
  expect(logged(requests).map(({ keyId }) => keyId)).toEqual(requests.map(({ keyId }) => keyId));
});

test('nothing is made for a line that is not written', () => {
  expect(requestLog(pino({ level: 'warn' }, { write: () => {} }))).toBeUndefined();
});
