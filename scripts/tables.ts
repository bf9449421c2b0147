/** Writes `docs/openapi.json`, and the tables of attributes, errors and metrics in the manuals. `npm run accept` calls it. */

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { generateDocument } from '../openapi/document.ts';
import { errorCodesOf, WHEN } from '../openapi/errors.ts';
import { stabilityOfError } from '../openapi/lifecycle.ts';
import { STATUS_OF } from '../src/adapters/http/errors.ts';
import { servedOperations } from '../src/adapters/http/lifecycle.ts';
import { Metrics } from '../src/adapters/metrics/index.ts';
import type { Attribute, AttributeKind } from '../src/domain/attribute.ts';
import { INT64_MAX, INT64_MIN } from '../src/domain/int64.ts';
import { ATTRIBUTES, PET_ATTRIBUTES } from '../src/domain/pet.ts';

const stable: readonly string[] = errorCodesOf(servedOperations());

export const TABLES: Readonly<Record<string, () => Promise<readonly string[]>>> = {
  'docs/api.md': async () => [
    table(
      ['member', 'JSON type', 'rule'],
      [
        [
          '`id`',
          'integer',
          'An int64, assigned in ascending order, never twice, with gaps: changes take numbers, too.',
        ],
        ...PET_ATTRIBUTES.map((name) => [`\`${name}\``, ...rulesOf(ATTRIBUTES[name])]),
      ],
    ),
    table(
      ['code', 'status', 'when'],
      Object.entries(STATUS_OF).map(([code, status]) => [
        `\`${code}\``,
        `${status}`,
        [WHEN[code as keyof typeof WHEN], ...stabilityOfError(stable.includes(code))].join(' '),
      ]),
    ),
  ],
  'docs/watch.md': async () => [table(['metric{labels}', 'description'], await metrics())],
};

/** Returns the text of a manual, with the tables generated from the code. */
export async function withTable(path: string, text: string): Promise<string> {
  const rows = [...((await TABLES[path]?.()) ?? [])];
  const written = text.replaceAll(
    /(?<=<!-- written by npm run accept -->\n).*?(?=<!-- end -->)/gs,
    () => `\n${rows.shift()}\n`,
  );
  if (rows.length > 0) throw new Error(`${path} lacks a marker of a table`);
  return written;
}

function rulesOf(attribute: Attribute): [type: string, rule: string] {
  const { description, isRequired, default: value, filter } = attribute;
  const [type, rule] = rulesOfKind(attribute);
  const presence = isRequired ? '' : value === undefined ? ' Optional.' : ` By default \`${value}\`.`;
  return [type, `${description} ${rule}.${presence}${filter ? ' Lists have a filter by it.' : ''}`];
}

function rulesOfKind(attribute: AttributeKind): [type: string, rule: string] {
  switch (attribute.kind) {
    case 'text': {
      const lengths = `${attribute.minLength} to ${attribute.maxLength} Unicode code points`;
      return ['string', `It has ${lengths}, without lone surrogates and U+0000`];
    }
    case 'one of':
      return ['string', `One of ${attribute.values.map((value) => `\`${value}\``).join(', ')}`];
    case 'boolean':
      return ['boolean', 'true or false'];
    case 'timestamp':
      return ['string', 'A time of RFC 3339, with at most milliseconds. Responses have it in UTC'];
    default: {
      const { kind, min, max } = attribute;
      const isWhole = min === INT64_MIN && max === INT64_MAX;
      return ['integer', `An ${kind}${isWhole ? '' : ` from ${min} to ${max}`}`];
    }
  }
}

async function metrics(): Promise<readonly string[][]> {
  const all = new Metrics({ version: '', storage: '', methods: [] });
  all.observer.onRequest?.({ requestId: '', address: '', method: '', status: 200, ms: 0 });
  const statistics = () => ({ connections: 0, requestsInFlight: 0, refused: { overloaded: 0 } });
  const cache = { hits: 0, misses: 0 };
  const stored = () => ({ pages: cache, keys: cache, connections: { busy: 0, idle: 0, waiting: 0 } });
  const idempotencyRecords = { count: async () => 0, removeRecords: async () => 0 };
  all.readFrom({ server: { statistics }, storage: { statistics: stored, idempotencyRecords } });
  const text = await all.text();
  const own = text.matchAll(/^# HELP (animal_store_\w+) (.*)$/gm);
  const rows = [...own].map(([, name = '', help = '']) => {
    const [, labels = ''] = new RegExp(`^${name}(?:_count)?\\{(.*?)\\}`, 'm').exec(text) ?? [];
    const names = [...labels.matchAll(/(\w+)="/g)].map(([, label]) => label);
    return [`\`${name}${names.length > 0 ? `{${names.join(',')}}` : ''}\``, `${help}.`];
  });
  return [
    ...rows,
    ['`process_*`, `nodejs_*`', 'Those of [prom-client](https://github.com/siimon/prom-client).'],
  ];
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const [first, ...others] = [head, ...rows].map(
    (cells) => `| ${cells.join(' | ')} |
`,
  );
  return `${first}|${'---|'.repeat(head.length)}
${others.join('')}`;
}

if (import.meta.main) {
  mkdirSync('docs', { recursive: true });
  writeFileSync('docs/openapi.json', `${generateDocument()}\n`);
  for (const path of Object.keys(TABLES).filter((each) => existsSync(each)))
    writeFileSync(path, await withTable(path, readFileSync(path, 'utf8')));
}
