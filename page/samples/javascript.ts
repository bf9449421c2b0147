import { parseExact } from '../exact-json.ts';
import { fetchSample } from './fetch.ts';
import { quote } from './quote.ts';
import type { SampleOptions, SampleRequest } from './request.ts';

/** Where a server has the client, beside the path of the API. */
const CLIENT = 'docs/animal-store-client.js';

/** The line width of a sample, in characters. */
const WIDTH = 80;

/**
 * Returns the request as a JavaScript module that calls the client of the package. The client has no method for a new
 * operation, and sends no invalid body: then the sample is that of `fetch`.
 */
export function javaScriptSample(request: SampleRequest, options: SampleOptions): string {
  const call = callOf(request);
  if (call === undefined) return fetchSample(request, options);
  const key = options.key === undefined ? 'process.env.ANIMAL_STORE_KEY' : quote(options.key);
  return [
    `// curl -O ${request.baseUrl.replace(/v1$/, CLIENT)}`,
    "import { createAnimalStore } from './animal-store-client.js';",
    '',
    'const store = await createAnimalStore({',
    `  database: ${quote(request.baseUrl)},`,
    `  apiKey: ${key},`,
    '});',
    `console.log(await store.${call});`,
  ].join('\n');
}

/** Returns the call of the client that sends the request, such as `getPet(1n)`. */
function callOf({ operation, parameters, body }: SampleRequest): string | undefined {
  switch (operation) {
    case 'list-pets':
      return `listPage(${Object.keys(parameters).length === 0 ? '' : literal(parameters)})`;
    case 'get-pet':
      return parameters['petId'] === undefined ? undefined : `getPet(${literal(parameters['petId'])})`;
    case 'create-pet': {
      const pet = objectOf(body);
      const key = parameters['Idempotency-Key'];
      const second = key === undefined ? '' : `, ${literal({ idempotencyKey: key })}`;
      return pet && `createPet(${literal(pet)}${second})`;
    }
    default:
      return undefined;
  }
}

function objectOf(body = ''): object | undefined {
  try {
    const value = parseExact(body);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
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
