import { quote } from './quote.ts';
import type { SampleOptions, SampleRequest } from './request.ts';

const PRINT_JSON = [
  '// JSON.parse alone would round integers above 2^53.',
  'const exact = (key, value, { source }) =>',
  '  /^-?\\d{16,}$/.test(source) ? BigInt(source) : value;',
  'const body = await response.text();',
  'console.log(response.status, JSON.parse(body, exact));',
];

/** Returns the request as a JavaScript module without packages, for Node.js 22 or newer. */
export function fetchSample(
  { method, url, headers, newKeyField, body }: SampleRequest,
  { key, response }: SampleOptions,
): string {
  const authorization =
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the sample contains a template.
    key === undefined ? '`Bearer ${process.env.ANIMAL_STORE_KEY}`' : quote(`Bearer ${key}`);
  const fields = [
    `Authorization: ${authorization}`,
    ...headers.map(([name, value]) => `${quote(name)}: ${quote(value)}`),
    ...(newKeyField === undefined ? [] : [`${quote(newKeyField)}: crypto.randomUUID()`]),
  ];
  const lines = [
    `const url = ${quote(url)};`,
    'const response = await fetch(url, {',
    ...(method === 'GET' ? [] : [`  method: ${quote(method)},`]),
    '  headers: {',
    ...fields.map((field) => `    ${field},`),
    '  },',
    ...(body === undefined ? [] : [`  body: ${quote(body)},`]),
    '});',
    '',
    ...(response === undefined ? ['console.log(response.status, await response.text());'] : PRINT_JSON),
  ];
  return lines.join('\n');
}
