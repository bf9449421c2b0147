import { describe, expect, test } from 'vitest';
import type { Client } from '../support/client.ts';
import { OPERATOR_KEY, startService, temporaryFolder } from '../support/process.ts';

const ROUNDS = 10;
const WRITERS = 8;

interface Pet {
  readonly id: number;
  readonly name: string;
}

describe('a service that is killed with SIGKILL while it creates pets', { timeout: 120_000 }, () => {
  test(`loses no acknowledged pet, and assigns no id twice, in ${ROUNDS} rounds`, async () => {
    const cwd = temporaryFolder();
    const acknowledged = new Map<number, string>();
    for (let round = 0; round < ROUNDS; round += 1) {
      const { client, child, exit } = await startService({
        cwd,
        env: { API_KEYS: OPERATOR_KEY, LOG_LEVEL: 'silent' },
      });
      expectStored(await all(client), acknowledged);
      const enough = acknowledged.size + 30 + 20 * round;
      const write = async (writer: number) => {
        for (let count = 0; ; count += 1) {
          const name = `round ${round}, writer ${writer}, pet ${count}`;
          const answer = await client.post({ name, categoryId: round });
          const { id } = JSON.parse(answer.body);
          expect(answer.status).toBe(201);
          expect(acknowledged.has(id)).toBe(false);
          acknowledged.set(id, name);
          if (acknowledged.size === enough) child.kill('SIGKILL');
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
    }
    const { client } = await startService({ cwd, env: { API_KEYS: OPERATOR_KEY } });
    expectStored(await all(client), acknowledged);
    expect(acknowledged.size).toBeGreaterThan(ROUNDS * 30);
  });
});

function expectStored(stored: readonly Pet[], acknowledged: ReadonlyMap<number, string>): void {
  const names = new Map(stored.map(({ id, name }) => [id, name]));
  expect(names.size).toBe(stored.length);
  expect(new Set(names.values()).size).toBe(stored.length);
  expect([...acknowledged].filter(([id, name]) => names.get(id) !== name)).toEqual([]);
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
