/** Stops a server under load, repeatedly. No request of a client with an open connection may be lost. */

import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { servedOperations } from '../../src/adapters/http/lifecycle.ts';
import { petJson } from '../../src/domain/pet-json.ts';
import { createAnimalStore } from '../../src/library/index.ts';
import { randomNumbers } from '../../src/testing/random.ts';
import { checked } from '../support/answer-checks.ts';
import type { Answer } from '../support/client.ts';
import { CHANGING, CHANGING_SETTINGS } from '../support/lifecycle.ts';
import { BROKEN_PROMISE } from '../support/retry.ts';
import { ClientGroup, createOf, type Exchange, LIST } from './client/clients.ts';
import { idOf } from './commands.ts';
import { SEED, STOPS } from './options.ts';
import { startFaultsServer } from './server.ts';
import { STORES } from './stores.ts';
import { printTable } from './table.ts';

/** Half of the clients pause between two requests, for at most {@link MAX_PAUSE} milliseconds. */
const CLIENTS = 32;
const MAX_PAUSE = 300;
/** The clients that keep a copy of the pets, also through the stops. */
const FOLLOWERS = 4;
/** The operations of the server. */
const OPERATIONS = servedOperations({ ...CHANGING });

describe.each(STORES)('SIGTERM under load on $name', ({ name, newUrl, canRun }) => {
  test.skipIf(!canRun)(
    `breaks no request of ${CLIENTS} clients, in ${STOPS} rounds of seed ${SEED}`,
    { timeout: 120_000 + STOPS * 20_000 },
    async () => {
      const random = randomNumbers(SEED);
      const url = await newUrl();
      const followers = Array.from({ length: FOLLOWERS }, () => new Follower());
      /** The last acknowledged JSON of each pet. */
      const acknowledged = new Map<number, string>();
      const failures: string[] = [];
      const stopTimes: number[] = [];
      let [requests, changes] = [0, 0];
      const nextOf = (name: string, count: number, last: Answer | undefined): Exchange => {
        if (count % 3 !== 0 && last !== undefined) acknowledged.set(idOf(last.body), last.body);
        if (count % 3 === 2) changes += 1;
        if (count % 3 === 1 && last !== undefined) return changeOf(last, name);
        return count % 3 === 0 ? createOf(name) : LIST;
      };
      for (let round = 0; round < STOPS; round++) {
        const server = await startFaultsServer({ env: { DATABASE_URL: url, ...CHANGING_SETTINGS } });
        const group = new ClientGroup({
          origin: server.origin,
          clients: CLIENTS,
          check: (answer, asked) => checked(answer, asked, OPERATIONS),
          next: (client, count, last) =>
            followers[client]?.next(last) ?? nextOf(`${round}.${client}.${count}`, count, last),
          pause: (client) => (client % 2 === 0 ? 0 : random(MAX_PAUSE)),
          endsWhenRefused: true,
        });
        await group.untilConnected();
        await sleep(200 + random(1000));
        const start = performance.now();
        expect(await server.stop()).toEqual({ code: 0, signal: null });
        stopTimes.push(Math.round(performance.now() - start));
        const outcomes = await group.ended();
        requests += outcomes.requests;
        failures.push(...outcomes.failures);
      }
      const followed = followers.reduce((sum, { states }) => sum + states, 0);
      printTable(`Stops under load: ${name}, seed ${SEED}`, [
        ['rounds', 'requests', 'broken', 'creates', 'changes', 'followed', 'longest stop ms'],
        [STOPS, requests, failures.length, acknowledged.size, changes, followed, Math.max(...stopTimes)],
      ]);
      expect(failures).toEqual([]);
      await using store = await createAnimalStore({ database: url });
      const stored: string[] = [];
      for await (const pet of store.listPets()) stored.push(petJson(pet));
      expect(stored.toSorted(), BROKEN_PROMISE).toEqual([...acknowledged.values()].toSorted());
      for (const { copy, cursor } of followers) {
        for (let after = cursor, more = true; more; ) {
          const page = await store.listChanges({ after, limit: 100 });
          for (const { pet } of page.changes) if (pet !== undefined) copy.set(`${pet.id}`, petJson(pet));
          ({ next: after, more } = page);
        }
        expect([...copy.values()].toSorted(), BROKEN_PROMISE).toEqual(stored.toSorted());
      }
      expect(requests).toBeGreaterThan(STOPS * CLIENTS);
    },
  );
});

/** A client that reads the pages of changes, each after the cursor of the one before. */
class Follower {
  readonly copy: Map<string, string> = new Map();
  cursor: string | undefined;
  states = 0;

  next(last: Answer | undefined): Exchange {
    for (const [, cursor, pet = '', id = ''] of last?.body.matchAll(STATE) ?? []) {
      this.copy.set(id, pet);
      this.cursor = cursor;
      this.states += 1;
    }
    const after = this.cursor === undefined ? '' : `&after=${this.cursor}`;
    return { method: 'GET', target: `/v1/changes?limit=100${after}` };
  }
}

/** No name in these pets has a brace. */
const STATE = /\{"cursor":"([^"]+)","pet":(\{"id":(\d+)[^}]*\}),"etag"/g;

function changeOf({ body, headers }: Answer, key: string): Exchange {
  const type = { 'Content-Type': 'application/merge-patch+json' };
  const sent = { ...type, 'If-Match': headers['etag'] ?? '', 'Idempotency-Key': key };
  const change = JSON.stringify({ name: `${key} changed` });
  return { method: 'PATCH', target: `/v1/pets/${idOf(body)}`, options: { headers: sent, body: change } };
}
