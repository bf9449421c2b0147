/** The command `changes --follow` as a process of its own: signals, and a copy that misses nothing. */

import { expect, test } from 'vitest';
import { petJson } from '../../src/domain/pet-json.ts';
import { createAnimalStore } from '../../src/library/index.ts';
import { samplePet } from '../../src/testing/fixtures/pets.ts';
import { until } from '../support/clock.ts';
import { changeTo, REX } from '../support/pets.ts';
import { atEnd } from '../support/process.ts';
import { BROKEN_PROMISE } from '../support/retry.ts';
import { endOf, Workspace } from './workspace.ts';

interface Line {
  readonly cursor: string;
  readonly pet?: { readonly id: number; readonly name: string };
  readonly removed?: number;
}

/** A line that a killed process has not written to its end is none. */
function linesOf(stdout: string): Line[] {
  return stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}

test('a follower that was killed goes on after its last cursor and misses nothing, and SIGINT ends it', async () => {
  const work = new Workspace();
  const store = await createAnimalStore({ database: `sqlite:${work.store}` });
  atEnd(() => store.close());
  let isWriting = true;
  const writing = (async () => {
    const ids: bigint[] = [];
    for (let count = 1; isWriting; count += 1) {
      ids.push((await store.createPet(samplePet(`pet ${count}`, count))).id);
      await store.changePet(ids[ids.length >> 1] as bigint, changeTo(samplePet(`changed ${count}`, -count)));
      if (count % 3 === 0) await store.removePet(ids.shift() as bigint);
    }
  })();
  const copy = new Map<number, string>();
  let cursor: string | undefined;
  const follow = () =>
    work.start(['changes', '--follow', ...(cursor === undefined ? [] : ['--after', cursor])]);
  const apply = (stdout: string): void => {
    for (const { cursor: next, pet, removed } of linesOf(stdout)) {
      cursor = next;
      if (pet === undefined) copy.delete(removed as number);
      else copy.set(pet.id, JSON.stringify(pet));
    }
  };
  for (let kills = 0; kills < 3; kills += 1) {
    const killed = follow();
    await until(() => linesOf(killed.out.stdout).length > 0);
    killed.child.kill('SIGKILL');
    await killed.exit;
    apply(killed.out.stdout);
  }
  const last = follow();
  isWriting = false;
  await writing;
  const { id: lastId } = await store.createPet(REX);
  await until(() => linesOf(last.out.stdout).at(-1)?.pet?.id === Number(lastId));
  last.child.kill('SIGINT');
  expect(await endOf(last)).toMatchObject({ status: 0, err: '' });
  apply(last.out.stdout);
  const pets = new Map<number, string>();
  for await (const pet of store.listPets())
    pets.set(Number(pet.id), JSON.stringify(JSON.parse(petJson(pet))));
  expect(copy, BROKEN_PROMISE).toEqual(pets);
});
