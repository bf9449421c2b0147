import type { SampleOptions, SampleRequest } from './request.ts';

/** Returns the request as a JavaScript module for Node.js 22 or newer. */
export function javaScriptSample(
  { method, url, headers, body }: SampleRequest,
  { key }: SampleOptions,
): string {
  const authorization =
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the sample contains a template.
    key === undefined ? '`Bearer ${process.env.ANIMAL_STORE_KEY}`' : quote(`Bearer ${key}`);
  const fields = [
    `Authorization: ${authorization}`,
    ...headers.map(([name, value]) => `${quote(name)}: ${quote(value)}`),
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
    '// JSON.parse alone would round integers above 2^53.',
    'const exact = (key, value, { source }) =>',
    '  /^-?\\d{16,}$/.test(source) ? BigInt(source) : value;',
    'const body = await response.text();',
    'console.log(response.status, JSON.parse(body, exact));',
  ];
  return lines.join('\n');
}

/** Returns a string literal, in single quotes when the text needs no escape. */
function quote(text: string): string {
  return /^[^'\\\p{Cc}\u2028\u2029]*$/u.test(text) ? `'${text}'` : JSON.stringify(text);
}
