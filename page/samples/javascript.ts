import { formatJson, parseExact, writeExact } from '../exact-json.ts';
import { fetchSample } from './fetch.ts';
import { quote } from './quote.ts';
import { KEY_FIELD, type SampleOptions, type SampleRequest, TAG_FIELD } from './request.ts';

/** The path of the JavaScript client on a server, in place of `v1` at the end of the base URL. */
const CLIENT = 'docs/animal-store-client.js';

/** The file name of the client. Node.js reads `.mjs` as a module, also in a package with `"type": "commonjs"`. */
const FILE = 'animal-store-client.mjs';

/** The line width of a sample, in characters. */
const WIDTH = 80;

/**
 * Returns the request as a JavaScript module that calls the JavaScript client. The client sends only
 * JSON objects as bodies, and needs each parameter of a path. The sample of a request that it cannot send uses `fetch`.
 */
export function javaScriptSample(request: SampleRequest, options: SampleOptions): string {
  const call = callOf(request);
  if (call === undefined) return fetchSample(request, options);
  // `console.log` would print a pet in a page of changes as `[Object]`.
  const sent = request.operation === 'list-changes' ? `(await store.${call}).changes` : `await store.${call}`;
  const key = options.key === undefined ? 'process.env.ANIMAL_STORE_KEY' : quote(options.key);
  return [
    `// curl -o ${FILE} ${request.baseUrl.replace(/v1$/, CLIENT)}`,
    `import { createAnimalStore } from './${FILE}';`,
    '',
    'const store = await createAnimalStore({',
    `  database: ${quote(request.baseUrl)},`,
    `  apiKey: ${key},`,
    '});',
    options.response === undefined ? `${sent};` : `console.log(${sent});`,
  ].join('\n');
}

/**
 * Returns the client call that sends the request, such as `getPet(1n)`. The method has the name of the operation,
 * except `listPage` for `listPets`. Its arguments are the path parameters, the body, the query and the options.
 */
function callOf({ operation, pathParameters, parameters, headers, body }: SampleRequest): string | undefined {
  const { [KEY_FIELD]: idempotencyKey, [TAG_FIELD]: _, ...given } = parameters;
  // The tag is read from the header fields, which have a placeholder if none is given.
  const ifMatch = new Map(headers).get(TAG_FIELD);
  const options = {
    ...(ifMatch !== undefined && { ifMatch }),
    ...(idempotencyKey !== undefined && { idempotencyKey }),
  };
  const query = Object.entries(given).filter(([name]) => !pathParameters.includes(name));
  const required = [
    ...pathParameters.map((name) => given[name]),
    ...(body === undefined ? [] : [objectOf(body)]),
  ];
  if (required.includes(undefined)) return undefined;
  const values = [
    ...required,
    ...(query.length === 0 ? [] : [Object.fromEntries(query)]),
    ...(Object.keys(options).length === 0 ? [] : [options]),
  ];
  return `${methodOf(operation)}(${values.map(literal).join(', ')})`;
}

function methodOf(operation: string): string {
  if (operation === 'list-pets') return 'listPage';
  return operation.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** Parses a body. Returns `undefined` if it is not an object, or if JavaScript would change it, such as by rounding a number. */
function objectOf(body: string): object | undefined {
  try {
    const value = parseExact(body);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    return formatJson(writeExact(value)) === formatJson(body) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the JavaScript literal of a value that `parseExact` returns. */
function literal(value: unknown): string {
  if (typeof value === 'string') return quote(value);
  if (typeof value === 'bigint') return `${value}n`;
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return String(value);
  const members = Object.entries(value).map(([name, member]) => {
    return `${/^[a-z]\w*$/i.test(name) ? name : quote(name)}: ${literal(member)}`;
  });
  const line = `{ ${members.join(', ')} }`;
  return line.length <= WIDTH ? line : `{\n${members.map((member) => `  ${member},\n`).join('')}}`;
}
