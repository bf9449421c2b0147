/** Sends numbers in JSON as a categoryId. An int64 must be stored exactly, any other number must be refused. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Pipeline } from './client/pipeline.ts';
import { quote, type Response } from './client/response-reader.ts';
import { OPERATOR } from './keys.ts';
import { numberText } from './messages/number-text.ts';
import { NUMBERS, SEED } from './options.ts';
import { int64Of } from './oracle/decimal.ts';
import { Random } from './random.ts';
import { FaultsServer } from './server.ts';
import { printTable } from './table.ts';

const CONNECTIONS = 4;
const BATCH = 100;
const STREAM = 0x6e75_6d73;

/** Number formats that are known to cause errors, and their values. */
const KNOWN: readonly (readonly [text: string, value: bigint | undefined])[] = [
  ['9223372036854775807', 9223372036854775807n],
  ['9223372036854775808', undefined],
  ['-9223372036854775808', -9223372036854775808n],
  ['-9223372036854775809', undefined],
  ['9007199254740993', 9007199254740993n],
  ['9223372036854775807.0', 9223372036854775807n],
  ['9.223372036854775807e18', 9223372036854775807n],
  ['9.2233720368547758071e18', undefined],
  ['92233720368547758070e-1', 9223372036854775807n],
  ['100000000000000.001', undefined],
  ['1e-400', undefined],
  ['0e400', 0n],
  ['-0', 0n],
  ['1e19', undefined],
  ['01', undefined],
  ['1.', undefined],
];

describe(`${NUMBERS} numbers of seed ${SEED}`, { timeout: 60_000 + NUMBERS }, () => {
  let server: FaultsServer;
  const stored = new Map<string, bigint>();

  beforeAll(async () => {
    server = await FaultsServer.start({ logLevel: 'error' });
  });

  afterAll(async () => {
    await server?.kill();
  });

  test('the oracle knows the values of numbers', () => {
    for (const [text, value] of KNOWN) expect([text, int64Of(text)]).toEqual([text, value]);
  });

  test('an int64 is accepted exactly, any other number is refused', async () => {
    const random = new Random(SEED, STREAM);
    const faults: string[] = [];
    let sent = 0;
    let refused = 0;
    const send = async () => {
      const pipeline = await Pipeline.open(server.port, OPERATOR);
      while (sent < NUMBERS) {
        const texts = Array.from({ length: Math.min(BATCH, NUMBERS - sent) }, () => numberText(random));
        const first = sent;
        sent += texts.length;
        const responses = await pipeline.create(
          texts.map((text, index) => `{"name":"${first + index}","categoryId":${text}}`),
        );
        texts.forEach((text, index) => {
          const value = int64Of(text);
          if (value === undefined) refused += 1;
          else stored.set(String(first + index), value);
          const fault = unlike(responses[index], String(first + index), value);
          if (fault !== undefined) faults.push(`categoryId ${quote(text)}: ${fault}`);
        });
      }
      pipeline.close();
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, send));
    printTable(`Numbers, seed ${SEED}`, [
      ['numbers', 'int64', 'refused', 'faults'],
      [sent, stored.size, refused, faults.length],
    ]);
    expect(stored.size).toBeGreaterThan(NUMBERS / 4);
    expect(refused).toBeGreaterThan(NUMBERS / 4);
    if (faults.length > 0)
      throw new Error(`${faults.length} faults, such as:\n${faults.slice(0, 10).join('\n')}`);
  });

  test('each is stored exactly', () => {
    const lines = server.export();
    expect(lines.length).toBe(stored.size);
    const wrong = lines.filter((line) => {
      const [, name = '', categoryId] = /"name":"(\d+)","categoryId":(-?\d+),/.exec(line) ?? [];
      return categoryId !== String(stored.get(name));
    });
    expect(wrong.slice(0, 10)).toEqual([]);
  });

  test('the server is alive, and stops gracefully', async () => {
    expect(await server.stop()).toEqual({ code: 0, signal: null });
  });
});

function unlike(response: Response | undefined, name: string, value: bigint | undefined): string | undefined {
  if (response === undefined) return 'no response';
  const body = response.body.toString();
  const isRight =
    value === undefined
      ? response.status === 400 && body.startsWith('{"code":"invalid_request",')
      : response.status === 201 &&
        body.endsWith(`"name":"${name}","categoryId":${value},"status":"available"}`);
  return isRight ? undefined : `expected ${value ?? 'a refusal'}, got ${response.status} ${quote(body)}`;
}
