/**
 * Calls the API with `fetch`, without packages. `JSON.parse` rounds integers beyond 2^53, so this client reads each integer from
 * its digits, as a `bigint`. It needs Node.js 22 or a browser with `JSON.rawJSON`.
 *
 *     ANIMAL_STORE_URL=http://127.0.0.1:3000/v1 ANIMAL_STORE_KEY=pets_... node examples/client.js
 */

const BASE_URL = process.env.ANIMAL_STORE_URL ?? 'http://127.0.0.1:3000/v1';
const KEY = process.env.ANIMAL_STORE_KEY;
if (KEY === undefined) throw new Error('set ANIMAL_STORE_KEY to an API key');
if (JSON.rawJSON === undefined) throw new Error('expected Node.js 22 or newer');
const ATTEMPTS = 5;
const MAX_WAIT = 30;
/** The statuses after which a retry can succeed. A proxy sends 502 and 504. */
const RETRIED = [408, 429, 502, 503, 504];

/** Sends a request. Retries it after a lost connection and after the statuses in `RETRIED`, with at most 5 attempts. */
async function send(url, options = {}) {
  for (let attempt = 1; ; attempt += 1) {
    let seconds = 2 ** (attempt - 2);
    try {
      const response = await fetch(url, {
        ...options,
        headers: { Authorization: `Bearer ${KEY}`, ...options.headers },
        signal: AbortSignal.timeout(30_000),
      });
      const result = { response, text: await response.text() };
      if (attempt === ATTEMPTS || !RETRIED.includes(response.status)) return result;
      seconds = Number(response.headers.get('Retry-After')) || seconds;
    } catch (error) {
      if (attempt === ATTEMPTS) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, Math.min(seconds, MAX_WAIT) * 1000));
  }
}

/**
 * Creates a pet. `categoryId` is a `bigint` or a safe integer. All attempts send the same idempotency key; each pet has its own.
 * After an error without `code` or with a status of 500 or above, the pet may have been stored: a later call with the same pet
 * and `key` stores no second one.
 */
async function createPet(pet, key = crypto.randomUUID()) {
  const result = await send(`${BASE_URL}/pets`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'Idempotency-Key': key },
    body: JSON.stringify(pet, writeExactly),
  });
  return bodyOf(result, 201);
}

/** Yields all pets that match a query, page by page. */
async function* listPets(query) {
  let url = `${BASE_URL}/pets?${new URLSearchParams(query)}`;
  while (url !== undefined) {
    const result = await send(url);
    yield* bodyOf(result);
    const next = /<([^>]+)>; rel="next"/.exec(result.response.headers.get('Link') ?? '')?.[1];
    url = next && new URL(next, url).href;
  }
}

/**
 * Returns the body of a response. Throws an error if the status is not `expected` or the body is not JSON. The error has `code` and
 * `status` if the API sent the response.
 */
function bodyOf({ response, text }, expected = 200) {
  const { status, headers } = response;
  if (status === expected && headers.get('Content-Type') === 'application/json')
    return JSON.parse(text, readExactly);
  const { code, message } = status < 400 ? {} : errorIn(text);
  if (code === undefined) throw new Error(`status ${status}, which the API did not send`);
  throw Object.assign(new Error(`${status} ${code}: ${message}`), { code, status });
}

/** A proxy responds with HTML. */
function errorIn(text) {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return {};
  }
}

function readExactly(_key, value, { source }) {
  return typeof value === 'number' && /^-?\d+$/.test(source) ? BigInt(source) : value;
}

function writeExactly(_key, value) {
  return typeof value === 'bigint' ? JSON.rawJSON(String(value)) : value;
}

for (const name of ['Rex', 'Tom', 'Минька']) {
  const { id } = await createPet({ name, categoryId: 9007199254740993n, status: 'sold' });
  console.log(`created pet ${id}`);
}

for await (const { id, name, categoryId } of listPets({ status: 'sold', limit: 2 })) {
  console.log(`pet ${id}: ${name} in category ${categoryId}`);
}

await createPet({ name: '', categoryId: 7n }).catch((error) => console.log(`refused: ${error.message}`));
