/** Checks that a key would be found in everything that the tests check for keys. */

import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { formatApiKey } from '../../src/domain/api-key.ts';
import { expectNoKey, expectNoKeyInOutput, expectNoNotedKeys, noteKeys, registerKey } from './canary.ts';
import { OPERATOR_KEY } from './process.ts';
import { listen } from './sockets.ts';

const newKey = () => formatApiKey(crypto.getRandomValues(new Uint8Array(32)));

describe('a key in a text', () => {
  test.each([
    ['whole', (key: string) => key],
    ['in another case', (key: string) => key.toUpperCase()],
    ['without its prefix', (key: string) => key.slice(9)],
    ['cut off at the end', (key: string) => key.slice(0, 30)],
    ['cut off at the start', (key: string) => key.slice(-20)],
  ])('is found: %s', (_case, part) => {
    const key = newKey();
    registerKey(key);
    expect(() => expectNoKey(`{"message":"no key ${part(key)}"}`, 'a response')).toThrow(
      'a response contains',
    );
  });

  test('makes the running test fail at its end when it was noted', () => {
    noteKeys(`key=${newKey()}`, 'the log');
    expect(expectNoNotedKeys).toThrow('the log contains');
    expectNoNotedKeys();
  });
});

describe('a key in a response', () => {
  test.each(['a-key-of-an-operator-0123456789abcdef', newKey()])('is found by fetch: %s', async (key) => {
    const echo = createServer((req, res) => res.end(`{"message":"${req.headers.authorization}"}`));
    await (await fetch(await listen(echo), { headers: { Authorization: `Bearer ${key}` } })).text();
    expect(expectNoNotedKeys).toThrow('a response contains');
  });

  test('is found by a raw socket, in whichever chunks it arrives', async () => {
    registerKey(OPERATOR_KEY);
    const server = createServer().on('connection', (accepted) => {
      for (const character of OPERATOR_KEY) accepted.write(character);
      accepted.end();
    });
    const { port } = new URL(await listen(server));
    await once(connect(Number(port), '127.0.0.1').resume(), 'close');
    expect(expectNoNotedKeys).toThrow('a response contains');
  });
});

test('a command may show a key only where it shows one that it has created', () => {
  const key = newKey();
  expectNoKeyInOutput(`${key}\n`, '');
  expectNoKeyInOutput(`{"key":"${key}"}\n`, '');
  expectNoKeyInOutput(`  ${key}\n\n  curl -H 'Authorization: Bearer ${key}' http://x/v1/pets\n`, '');
  expect(() => expectNoKeyInOutput(`created ${key}\n`, '')).toThrow('standard output');
  expect(() => expectNoKeyInOutput(`${key}\n`, `${key}\n`)).toThrow('standard error');
});
