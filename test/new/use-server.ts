/** Uses the server of a new project as its first user would. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { exactJson } from '../../openapi/document.ts';
import type { NamedAttribute } from '../../scripts/attribute-text.ts';
import { namesOf } from '../../scripts/new/names.ts';
import type { Attribute } from '../../src/domain/attribute.ts';
import { parseJson } from '../../src/domain/json.ts';

/**
 * Starts the server, and creates, changes, removes and follows one record by the examples of its own document. Then it uses the
 * attributes that are named.
 */
export async function useServer(
  folder: string,
  entity: string,
  attributes: readonly NamedAttribute[] = [],
): Promise<void> {
  const env = { ...process.env, PORT: '0', DATABASE_URL: `sqlite:${folder}/try.db` };
  const server = spawn('npm', ['start'], { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] });
  let printed = '';
  for await (const text of server.stdout.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
    printed += text;
    if (/ curl /.test(printed)) break;
  }
  try {
    const base = /^Listening on (\S+)$/m.exec(printed)?.[1] ?? '';
    const headers = { Authorization: `Bearer ${/\w+_[0-9A-Za-z]{49}/.exec(printed)?.[0]}`, 'If-Match': '*' };
    const call: Call = async (method, path, body) => {
      const sent = body === undefined ? {} : { body: exactJson(body) };
      const type = body === undefined ? {} : { 'Content-Type': 'application/json' };
      const response = await fetch(`${base}${path}`, { method, headers: { ...headers, ...type }, ...sent });
      const text = await response.text();
      return { status: response.status, value: text === '' ? undefined : parseJson(text) };
    };
    const { paths } = (await (await fetch(new URL('/openapi.json', base))).json()) as Document;
    const records = `/${namesOf({ entity }).plural.join('-')}`;
    const [one = '', feed = ''] = [/\{/, /^\/[^{]*$/].map((form) =>
      Object.keys(paths).find((path) => path !== records && form.test(path)),
    );
    const example = (path: string, method: string) =>
      Object.values(paths[path]?.[method]?.requestBody?.content['application/json']?.examples ?? {})[0]
        ?.value;
    const statuses = [
      await call('POST', records, example(records, 'post')),
      await call('PATCH', `${records}/1`, example(one, 'patch')),
      await call('GET', `${records}/1`),
      await call('DELETE', `${records}/1`),
      await call('GET', feed),
    ];
    const [, changed, read, , followed] = statuses.map(({ value }) => value);
    const found = exactJson([statuses.map(({ status }) => status), followed]);
    if (!/^\[\[201,200,200,204,200\],\[\{"cursor":"[^"]+","removed":1\}\]\]$/.test(found))
      throw new Error(found);
    if (exactJson(changed) !== exactJson(read)) throw new Error('a change is not read');
    await useAttributes(call, records, attributes);
  } finally {
    server.kill('SIGTERM');
    await once(server, 'close');
  }
}

/** Reads back what is sent and what is filled in, expects that limits are refused, and lists by each filter. */
async function useAttributes(
  call: Call,
  records: string,
  attributes: readonly NamedAttribute[],
): Promise<void> {
  const valuesOf = (chosen: readonly NamedAttribute[], at: 'sent' | 'read') =>
    Object.fromEntries(chosen.map(({ name, attribute }) => [name, sampleOf(attribute)[at]]));
  const expectMembers = (found: unknown, expected: object) => {
    // The members of a record have the order of the attributes, after the id.
    if (!exactJson(found).includes(exactJson(expected).slice(1, -1)))
      throw new Error(`expected ${exactJson(expected)}, got ${exactJson(found)}`);
  };
  const created = await call('POST', records, valuesOf(attributes, 'sent'));
  expectMembers(created.value, valuesOf(attributes, 'read'));
  const required = valuesOf(
    attributes.filter(({ attribute }) => attribute.isRequired),
    'sent',
  );
  const bare = await call('POST', records, required);
  for (const { name, attribute } of attributes) {
    if (attribute.default !== undefined) expectMembers(bare.value, { [name]: attribute.default });
    const { wrong, read } = sampleOf(attribute);
    const refused = await call('POST', records, { ...required, [name]: wrong });
    if (refused.status !== 400) throw new Error(`${name} can be ${exactJson(wrong)}: ${refused.status}`);
    if (!attribute.filter) continue;
    const listed = await call('GET', `${records}?${name}=${encodeURIComponent(`${read}`)}`);
    const others = (listed.value as Record<string, unknown>[]).filter(
      (record) => exactJson(record[name]) !== exactJson(read),
    );
    if (others.length > 0) throw new Error(`the filter by ${name} finds ${exactJson(others)}`);
    expectMembers(listed.value, created.value as object);
  }
}

/** Returns a value to send, the value that is read back, and a value that is refused. */
function sampleOf(attribute: Attribute): Readonly<Record<'sent' | 'read' | 'wrong', unknown>> {
  const { example } = attribute;
  switch (attribute.kind) {
    case 'text':
      return { sent: example, read: example, wrong: 'x'.repeat(attribute.maxLength + 1) };
    case 'timestamp':
      return {
        sent: '2027-01-31t14:30:00.001+02:00',
        read: '2027-01-31T12:30:00.001Z',
        wrong: '2027-02-29T12:30:00Z',
      };
    case 'boolean':
      return { sent: true, read: true, wrong: 'true' };
    case 'one of': {
      const last = attribute.values.at(-1);
      return { sent: last, read: last, wrong: `${last}x` };
    }
    default:
      return { sent: attribute.max, read: attribute.max, wrong: BigInt(attribute.max) + 1n };
  }
}

type Call = (
  method: string,
  path: string,
  body?: unknown,
) => Promise<{ readonly status: number; readonly value: unknown }>;

interface Content {
  readonly examples?: Record<string, { value: unknown }>;
}

interface Document {
  readonly paths: Record<string, Record<string, { requestBody?: { content: Record<string, Content> } }>>;
}
