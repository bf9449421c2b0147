/** Bodies of creates: JSON that is valid, broken, damaged or hostile. */

import { int64Of } from '../oracle/decimal.ts';
import type { Random } from '../random.ts';
import { BAD_UTF8, EXTRA_MEMBERS, NO_JSON, OTHER_TYPES, SAME_TYPES, WRONG_SHAPES } from './body-texts.ts';
import { nameText } from './name-text.ts';
import { numberText } from './number-text.ts';
import {
  anyKey,
  type Context,
  createOf,
  type Draft,
  draftOf,
  type ExpectedPet,
  type Request,
  utf8,
} from './request.ts';

type Build = (random: Random, context: Context) => Request;

export function body(random: Random, context: Context): Draft {
  const [name, build] = random.pick(Object.entries(BODIES));
  const request = build(random, context);
  return { ...draftOf(`body: ${name}`, request), mustArrive: true };
}

const pet = (name: string, categoryId: bigint, status = 'available'): ExpectedPet => ({
  name,
  categoryId,
  status,
});
const plainName = ({ number }: Context) => `message ${number}`;

function json(text: string, random: Random, context: Context, expected?: ExpectedPet): Request {
  return createOf(text, anyKey(context, random), expected);
}

/** A body that may be valid or not. The response must be a consistent 201 or 400. */
function either(text: string, random: Random, context: Context): Request {
  return { ...json(text, random, context), expected: [201, 400] };
}

/** The same request with other bytes as its body, which are not encoded. */
function withBytes(request: Request, bytes: string, expected: readonly number[]): Request {
  const fields = request.fields.filter((line) => !line.startsWith('Content-Length'));
  fields.push(`Content-Length: ${bytes.length}`);
  const { pet: _, ...rest } = request;
  return { ...rest, body: bytes, fields, expected };
}

const BODIES: Readonly<Record<string, Build>> = {
  'a number': (random, context) => {
    const text = numberText(random);
    const value = int64Of(text);
    const name = plainName(context);
    return json(
      `{"name":"${name}","categoryId":${text}}`,
      random,
      context,
      value === undefined ? undefined : pet(name, value),
    );
  },
  'a name': (random, context) => {
    const { json: text, value, isGood } = nameText(random, String(context.number));
    return json(`{"name":${text},"categoryId":7}`, random, context, isGood ? pet(value, 7n) : undefined);
  },
  'a status': (random, context) => {
    const status = random.pick(['available', 'pending', 'sold']);
    const name = plainName(context);
    return json(
      `{"status":"${status}","name":"${name}","categoryId":-1}`,
      random,
      context,
      pet(name, -1n, status),
    );
  },
  'a status that is none': (random, context) => {
    const status = random.pick([
      '"AVAILABLE"',
      '""',
      '"available "',
      'null',
      '1',
      'true',
      '[]',
      '["sold"]',
      '{}',
      '"lost"',
      '"__proto__"',
      '"\\u0000"',
    ]);
    return json(`{"name":"x","categoryId":1,"status":${status}}`, random, context);
  },
  'a member that is missing or of another type': (random, context) =>
    json(random.pick(WRONG_SHAPES), random, context),
  'unknown members': (random, context) => {
    const name = plainName(context);
    const extras = random.shuffled(EXTRA_MEMBERS).slice(0, random.between(1, 5));
    const members = random.shuffled([`"name":"${name}"`, '"categoryId":5', ...extras]);
    return json(`{${members.join(',')}}`, random, context, pet(name, 5n));
  },
  'members twice': (random, context) => {
    const names = ['name', 'categoryId', 'status'] as const;
    const values = {
      name: ['"a"', '"b"', '1'],
      categoryId: ['1', '9223372036854775807', '"x"'],
      status: ['"sold"', '"pending"', '0'],
    };
    const members = Array.from({ length: random.between(3, 8) }, () => random.pick(names)).map(
      (name) => `"${name}":${random.pick(values[name])}`,
    );
    return either(`{${members.join(',')}}`, random, context);
  },
  'space around': (random, context) => {
    const name = plainName(context);
    const space = () => random.text(' \t\r\n', random.below(10));
    const text = ['{', '"name"', ':', `"${name}"`, ',', '"categoryId"', ':', '3', '}']
      .map((part) => space() + part)
      .join('');
    return json(text + space(), random, context, pet(name, 3n));
  },
  'text that is no JSON': (random, context) => json(random.pick(NO_JSON), random, context),
  'deep nesting': (random, context) => {
    const depth = random.pick([10, 100, 1000, 5000, 10_000, 30_000]);
    const [open, close] = random.pick([
      ['[', ']'],
      ['{"a":', '}'],
    ] as const);
    const levels = Math.floor(Math.min(depth, 60_000 / (open.length + 1)));
    const nested = `${open.repeat(levels)}1${random.chance(0.8) ? close.repeat(levels) : ''}`;
    return either(
      random.chance(0.5) ? nested : `{"name":"deep","categoryId":1,"x":${nested}}`,
      random,
      context,
    );
  },
  'many members': (random, context) => {
    const name = plainName(context);
    const extras = Array.from(
      { length: random.pick([100, 2000]) },
      (_, index) => `"x${index}":${random.below(100)}`,
    );
    return json(`{"name":"${name}",${extras.join(',')},"categoryId":8}`, random, context, pet(name, 8n));
  },
  'a long number': (random, context) => {
    const zeros = '0'.repeat(random.pick([100, 10_000, 60_000]));
    const [text, value] = random.pick([
      [`1${zeros}`, undefined],
      [`1.${zeros}`, 1n],
      [`0.${zeros}1`, undefined],
      [`1${zeros}e-${zeros.length}`, 1n],
      [`5e-${zeros}`, 5n],
      [`-0.${zeros}`, 0n],
    ] as const);
    const name = plainName(context);
    return json(
      `{"name":"${name}","categoryId":${text}}`,
      random,
      context,
      value === undefined ? undefined : pet(name, value),
    );
  },
  'a byte order mark': (random, context) =>
    either(`\ufeff{"name":"${plainName(context)}","categoryId":1}`, random, context),
  'bytes that are no UTF-8': (random, context) => {
    const request = json('{}', random, context);
    const damage = random.pick(BAD_UTF8);
    return withBytes(request, `{"name":"a${damage}b","categoryId":1}`, [400]);
  },
  'another encoding': (random, context) => {
    const bytes = Buffer.from('{"name":"x","categoryId":1}', 'utf16le');
    if (random.chance(0.5)) bytes.swap16();
    const mark = random.pick(['', '\xff\xfe', '\xfe\xff']);
    return withBytes(json('{}', random, context), mark + bytes.toString('latin1'), [400]);
  },
  'one byte changed': (random, context) => {
    const text = `{"name":"${plainName(context)}","categoryId":${random.bigint(62)},"status":"sold"}`;
    const at = random.below(text.length);
    const bytes = text.slice(0, at) + String.fromCharCode(random.below(256)) + text.slice(at + 1);
    return withBytes(json('{}', random, context), bytes, [201, 400]);
  },
  'a piece cut out or doubled': (random, context) => {
    const text = utf8(
      `{"name":"m\u00e9ssage ${context.number}","categoryId":${random.bigint(62)},"status":"sold"}`,
    );
    const [from, to] = [random.below(text.length), random.below(text.length)];
    return withBytes(json('{}', random, context), text.slice(0, from) + text.slice(to), [201, 400]);
  },
  'any bytes': (random, context) =>
    withBytes(json('{}', random, context), random.bytes(random.between(1, 200)), [400]),
  'no body': (random, context) => withBytes(json('{}', random, context), '', [400]),
  'another media type': (random, context) => {
    const request = { ...json('{"name":"x","categoryId":1}', random, context), expected: [415] };
    request.fields = request.fields.filter((line) => !line.startsWith('Content-Type'));
    const type = random.pick(OTHER_TYPES);
    if (type !== undefined) request.fields.push(`Content-Type: ${type}`);
    return request;
  },
  'the media type in other words': (random, context) => {
    const name = plainName(context);
    const request = json(`{"name":"${name}","categoryId":1}`, random, context, pet(name, 1n));
    request.fields = request.fields.map((line) =>
      line.startsWith('Content-Type') ? `Content-Type: ${random.pick(SAME_TYPES)}` : line,
    );
    return request;
  },
  'a content coding': (random, context) => {
    const request = { ...json('{"name":"x","categoryId":1}', random, context), expected: [415] };
    request.fields.push(
      `Content-Encoding: ${random.pick(['gzip', 'br', 'deflate', 'zstd', 'x', 'gzip, gzip'])}`,
    );
    return request;
  },
};
