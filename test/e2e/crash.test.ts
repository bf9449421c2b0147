/** One kill of the real process. `test/faults/crash.faults.ts` kills it repeatedly. */

import { expect, test } from 'vitest';
import type { Client } from '../support/client.ts';
import { OPERATOR_KEY, startService, temporaryFolder } from '../support/process.ts';
import { BROKEN_PROMISE } from '../support/retry.ts';

const WRITERS = 8;
const PETS = 100;

interface Pet {
  readonly id: number;
  readonly name: string;
}

test('a service that is killed with SIGKILL while it creates pets loses none, and assigns no id twice', async () => {
  const options = { cwd: temporaryFolder(), env: { API_KEYS: OPERATOR_KEY, LOG_LEVEL: 'silent' } };
  const { client, child, exit } = await startService(options);
  const acknowledged = new Map<number, string>();
  const write = async (writer: number) => {
    for (let count = 0; ; count += 1) {
      const { id, name } = await create(client, `writer ${writer}, pet ${count}`);
      expect(acknowledged.has(id)).toBe(false);
      acknowledged.set(id, name);
      if (acknowledged.size === PETS) child.kill('SIGKILL');
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: WRITERS }, (_, writer) => write(writer)));
  for (const end of ends) {
    expect(end).toMatchObject({
      status: 'rejected',
      reason: { code: expect.stringMatching(/^(ECONNRESET|ECONNREFUSED|EPIPE)$/) },
    });
  }
  expect(await exit).toEqual({ code: null, signal: 'SIGKILL' });

  const { client: again } = await startService(options);
  const last = await create(again, 'last');
  const stored = await all(again);
  const names = new Map(stored.map(({ id, name }) => [id, name]));
  expect(names.size, BROKEN_PROMISE).toBe(stored.length);
  expect(new Set(names.values()).size, BROKEN_PROMISE).toBe(stored.length);
  expect(
    [...acknowledged].filter(([id, name]) => names.get(id) !== name),
    BROKEN_PROMISE,
  ).toEqual([]);
  expect(stored.at(-1)).toEqual(last);
});

async function create(client: Client, name: string): Promise<Pet> {
  const { status, body } = await client.post({ name, categoryId: 1 });
  expect(status).toBe(201);
  return JSON.parse(body);
}

async function all(client: Client): Promise<Pet[]> {
  const pets: Pet[] = [];
  let target: string | undefined = '/v1/pets?limit=100';
  while (target !== undefined) {
    const { body, headers } = await client.get(target);
    pets.push(...JSON.parse(body));
    target = /^<(.*)>; rel="next"$/.exec(headers['link'] ?? '')?.[1];
  }
  return pets;
}
