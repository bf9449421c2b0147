/**
 * Compares the responses to several hundred requests with recorded ones: the status, every header field and the body.
 * `npm run accept` records the present responses.
 */

import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, expect, onTestFailed, test } from 'vitest';
import { servedOperations } from '../../../src/adapters/http/lifecycle.ts';
import { checked } from '../../support/answer-checks.ts';
import { CARRIER } from '../../support/carrier.ts';
import type { Answer } from '../../support/client.ts';
import { Connection } from '../../support/connection.ts';
import { startServer, type TestServer } from '../../support/server.ts';
import { CHANGES } from './recorded/changes.ts';
import { REFUSALS } from './recorded/refusals.ts';
import { CREATES, SCENES, type Scene } from './recorded/requests.ts';

interface Exchange {
  readonly request: string;
  /** The status, the header fields in alphabetical order, and the body. */
  readonly responses: readonly (readonly string[])[];
}

type Recording = Record<string, readonly (Exchange | string)[]>;

const IS_RECORDING = process.env['RECORD'] === '1' && CARRIER === 'koa';
const fileOf = (name: string) => new URL(`recorded/${name}.json`, import.meta.url);
const read = (name: string): Recording => JSON.parse(readFileSync(fileOf(name), 'utf8'));

/** Each carrier sends the same responses. A `Request` has no method TRACE, and no path with the segments . and .. */
function canReceive(message: string): boolean {
  return CARRIER !== 'fetch' || !/^TRACE |^\S+ \S*\/\.\.?\//.test(message);
}

/** Fields that differ from run to run, or change with the files of the reference page. */
const VARIABLE: Readonly<Record<string, RegExp>> = {
  '': /^(date|keep-alive)$/,
  '/docs': /^(date|keep-alive|content-length|etag)$/,
  '/openapi.json': /^(date|keep-alive|content-length|etag)$/,
  // Each store has an epoch of its own, which is a part of its cursors.
  '/v1/changes': /^(date|keep-alive|etag)$/,
};

const EPOCH = /\b[\da-f]{16}-(?=\d)/g;

function textOf({ status, rawHeaders, body }: Answer, message: string): readonly string[] {
  const path = /^\w+ (\/docs|\/openapi\.json|\/v1\/changes)/.exec(message)?.[1] ?? '';
  const fields = rawHeaders
    .map(([name, value]) => [name.toLowerCase(), value] as const)
    .map(([name, value]) => [name, (VARIABLE[path] as RegExp).test(name) ? '…' : value] as const)
    .map(([name, value]) => {
      if (name === 'x-request-id' && !message.includes(`X-Request-Id: ${value}\r\n`)) return `${name}: …`;
      if (name === 'retry-after' && status === 429) return `${name}: …`;
      return `${name}: ${name === 'link' ? value.replace(EPOCH, '…-') : value}`;
    })
    .sort();
  return [String(status), ...fields, bodyOf(body, status === 200 ? path : '')];
}

function bodyOf(body: string, path: string): string {
  if (body === '' || path === '/docs') return '';
  if (path === '' || path === '/v1/changes')
    return body
      .replaceAll(EPOCH, '…-')
      .replace(/retry after \d+ s/, 'retry after … s')
      .replace(/(request) [\da-f-]{36}/, '$1 …');
  if (!body.startsWith('{')) return 'compressed';
  // docs/openapi.json has the rest of the document.
  return JSON.stringify(JSON.parse(body).servers);
}

/** The fields that tell the responses of a brief scene apart. */
const TELLING =
  /^(allow|content-encoding|deprecation|idempotency-replayed|location|vary|www-authenticate|access-control)/;

function briefly(answer: Answer): string {
  const { status, rawHeaders, headers, body } = answer;
  const fields = rawHeaders
    .map(([name, value]) => `${name.toLowerCase()}: ${value}`)
    .filter((field) => TELLING.test(field))
    .sort();
  const text = body.startsWith('{"code"')
    ? JSON.parse(body).message
    : body.length < 600
      ? body
      : 'a long body';
  return [status, headers['connection'] === 'close' ? 'closes' : '', ...fields, text]
    .filter(Boolean)
    .join(' ');
}

/** Sends a message on a new connection. Resolves with the responses to its requests, or to the whole message if it is not HTTP. */
async function exchange(
  { origin }: TestServer,
  message: string,
  { isBrief = false, options }: Scene,
): Promise<Answer[]> {
  // A full recording needs no other check, except for experimental operations, which no other test sends completely.
  const checkAll: typeof checked = (answer, asked) => checked(answer, asked, servedOperations(options));
  const check = options?.experimental || isBrief ? checkAll : (answer: Answer) => answer;
  const connection = await Connection.open(origin, Buffer.from(message, 'latin1'), check);
  const count = message.match(/^\S+ \S+ HTTP\/1\.1\r$/gm)?.length ?? 1;
  const answers: Answer[] = [];
  while (answers.length < count) {
    const answer = await connection.nextOrEnd();
    if (answer === undefined) break;
    answers.push(answer);
  }
  if (isBrief && answers.at(-1)?.headers['connection'] === 'close')
    answers.push(...(await connection.rest()));
  connection.destroy();
  return answers;
}

/** Each recording has its scenes. Those with the experimental operations are in files of their own. */
const RECORDINGS: Readonly<Record<string, Readonly<Record<string, Scene>>>> = {
  koa: { ...SCENES, ...REFUSALS },
  'koa-changes': CHANGES,
};

for (const [file, scenes] of Object.entries(RECORDINGS)) {
  const recorded: Recording = IS_RECORDING ? {} : read(file);
  let hasFailed = false;
  afterAll(() => {
    if (!IS_RECORDING || hasFailed) return;
    writeFileSync(fileOf(file), `${JSON.stringify(recorded, null, 1)}\n`);
  });

  for (const [name, scene] of Object.entries(scenes)) {
    const { options = {}, messages, isRaw = false, isBrief = false } = scene;
    test.skipIf(isRaw && CARRIER === 'fetch')(`the responses are the recorded ones: ${name}`, async () => {
      onTestFailed(() => {
        hasFailed = true;
      });
      const server = await startServer('memory', options);
      const { apiKeys } = server.store;
      const { key: other } = await apiKeys.create('other');
      const exchanges: (Exchange | string)[] = [];
      const { key: reader } = await apiKeys.create('reader', undefined, true);
      let tag = '';
      let cursor = '';
      for (const message of messages.filter(canReceive)) {
        // Each key may request the metrics only 10 times per second.
        const key = message.includes(' /metrics') ? (await apiKeys.create('new')).key : server.key;
        // Replaces all placeholders in one pass, because a key can contain the letters of another placeholder.
        const values: Readonly<Record<string, string>> = {
          KEY: key,
          OTHER: other,
          TAG: tag,
          READER: reader,
          CURSOR: cursor,
        };
        const sent = message.replaceAll(/KEY|OTHER|TAG|READER|CURSOR/g, (name) => values[name] ?? name);
        const answers = await exchange(server, sent, scene);
        if (CREATES.has(message)) expect(answers[0]?.status, `${message}: ${answers[0]?.body}`).toBe(201);
        tag = answers[0]?.headers['etag'] ?? tag;
        cursor = answers[0]?.body.match(/(?<="cursor":")[^"]+/g)?.at(-1) ?? cursor;
        const request =
          message.length < 500 ? message : `${message.slice(0, 500)}… (${message.length} bytes)`;
        exchanges.push(
          isBrief
            ? `${request.replaceAll('\r\n', ' | ')} → ${answers.map(briefly).join(' → ')}`
            : { request, responses: answers.map((answer) => textOf(answer, sent)) },
        );
      }
      if (IS_RECORDING) recorded[name] = exchanges;
      expect(exchanges).toEqual(recorded[name]?.filter((_, index) => canReceive(messages[index] ?? '')));
      if (isBrief) expect(server.errors).toEqual([]);
    });
  }
}
