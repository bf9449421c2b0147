/**
 * Prints all pets after an id, and each later pet as soon as it is stored. It needs Node.js 22, whose `JSON.parse` gives the
 * digits of a number, so that no id is rounded.
 *
 *     ANIMAL_STORE_URL=http://127.0.0.1:3000/v1 ANIMAL_STORE_KEY=pets_... node examples/follow/client.js [LAST_ID]
 */

const BASE_URL = process.env.ANIMAL_STORE_URL ?? 'http://127.0.0.1:3000/v1';
const headers = { Authorization: `Bearer ${process.env.ANIMAL_STORE_KEY}` };

/** Resolves with the next pets, and the seconds to wait if there are none. After an error, prints it, and resolves with no pets. */
async function read(after) {
  let wait = 1;
  try {
    const url = `${BASE_URL}/pets?limit=100&after=${after}`;
    const response = await fetch(url, { headers, signal: AbortSignal.timeout(30_000) });
    wait = Math.min(Number(response.headers.get('Retry-After')) || wait, 60);
    const text = await response.text();
    if (response.headers.get('Content-Type') !== 'application/json')
      throw new Error(`status ${response.status}, which the API did not send`);
    const pets = JSON.parse(text, readExactly);
    if (!Array.isArray(pets)) throw new Error(`${response.status} ${text}`);
    return { pets, wait };
  } catch (error) {
    console.error(error.message);
    return { pets: [], wait };
  }
}

function readExactly(_key, value, { source }) {
  return typeof value === 'number' ? BigInt(source) : value;
}

let after = BigInt(process.argv[2] ?? 0);
for (;;) {
  const { pets, wait } = await read(after);
  for (const { id, name } of pets) {
    // To continue after this pet when the program starts again, store the pet and its id in one transaction.
    console.log(`pet ${id}: ${name}`);
    after = id;
  }
  if (pets.length === 0) await new Promise((resolve) => setTimeout(resolve, wait * 1000));
}
