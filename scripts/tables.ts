/** Writes `docs/openapi.json`, and into the manuals the tables of errors and of metrics. `npm run accept` calls it. */

import { readFileSync, writeFileSync } from 'node:fs';
import { generateDocument } from '../openapi/document.ts';
import { errorCodesOf, WHEN } from '../openapi/errors.ts';
import { stabilityOfError } from '../openapi/lifecycle.ts';
import { STATUS_OF } from '../src/adapters/http/errors.ts';
import { servedOperations } from '../src/adapters/http/lifecycle.ts';
import { Metrics } from '../src/adapters/metrics/index.ts';

const stable: readonly string[] = errorCodesOf(servedOperations());

export const TABLES: Readonly<Record<string, () => Promise<string>>> = {
  'docs/api.md': async () =>
    table(
      ['code', 'status', 'when'],
      Object.entries(STATUS_OF).map(([code, status]) => [
        `\`${code}\``,
        `${status}`,
        [WHEN[code as keyof typeof WHEN], ...stabilityOfError(stable.includes(code))].join(' '),
      ]),
    ),
  'docs/watch.md': async () => table(['metric', 'description'], await metrics()),
};

/** Returns the text with the rows that the code has now. */
export async function withTable(path: string, text: string): Promise<string> {
  const rows = await TABLES[path]?.();
  const written = text.replace(
    /(?<=<!-- written by npm run accept -->\n).*?(?=\n<!-- end -->)/s,
    () => `\n${rows}`,
  );
  if (rows === undefined || !written.includes(rows)) throw new Error(`${path} has no marker of a table`);
  return written;
}

async function metrics(): Promise<readonly string[][]> {
  const all = new Metrics({ version: '', storage: '', methods: [] });
  const statistics = () => ({ connections: 0, requestsInFlight: 0, refused: {} });
  const idempotencyRecords = { count: async () => 0, removeRecords: async () => 0 };
  all.readFrom({ server: { statistics }, storage: { idempotencyRecords } });
  const own = (await all.text()).matchAll(/^# HELP (animal_store_\w+) (.*)$/gm);
  const rows = [...own].map(([, name = '', help = '']) => [`\`${name}\``, `${help}.`]);
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
  writeFileSync('docs/openapi.json', `${generateDocument(servedOperations(), 2)}\n`);
  for (const path of Object.keys(TABLES))
    writeFileSync(path, await withTable(path, readFileSync(path, 'utf8')));
}
