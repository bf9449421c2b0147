/** The command `changes --follow` as a process of its own: signals, and a copy that misses nothing. */

import { expect, test } from 'vitest';
import { petJson } from '../../src/domain/pet-json.ts';
import { createAnimalStore } from '../../src/library/index.ts';
import { samplePet, samplePets } from '../../src/testing/fixtures/pets.ts';
import { until } from '../support/clock.ts';
import { linesOf } from '../support/log-streams.ts';
import { changeTo } from '../support/pets.ts';
import { atEnd } from '../support/process.ts';
import { BROKEN_PROMISE } from '../support/retry.ts';
import { endOf, Workspace } from './workspace.ts';

/** Returns the complete lines: a killed process may have written only the start of the last one. */
const statesOf = (stdout: string) =>
  linesOf(stdout) as { cursor: string; pet?: { id: number }; removed?: number }[];

test('a follower that was killed goes on after its last cursor and misses nothing, and SIGINT ends it', async () => {
  const work = new Workspace();
  const store = await createAnimalStore({ database: `sqlite:${work.store}` });
  atEnd(() => store.close());
  const copy = new Map<number, unknown>();
  let cursor: string | undefined;
  const follow = () =>
    work.start(['changes', '--follow', ...(cursor === undefined ? [] : ['--after', cursor])]);
  const apply = (stdout: string): void => {
    for (const { cursor: next, pet, removed } of statesOf(stdout)) {
      cursor = next;
      if (pet === undefined) copy.delete(removed as number);
      else copy.set(pet.id, pet);
    }
  };
  /** Creates, changes and removes pets. Resolves with the id of the pet that it creates last. */
  const write = async (): Promise<number> => {
    const [gone, changed] = await Promise.all(samplePets(40).map((pet) => store.createPet(pet)));
    await store.removePet(gone?.id as bigint);
    await store.changePet(changed?.id as bigint, changeTo(samplePet('changed', 7)));
    return Number((await store.createPet(samplePet('last'))).id);
  };
  for (let kills = 0; kills < 2; kills += 1) {
    const killed = follow();
    const writing = write();
    await until(() => statesOf(killed.out.stdout).length > 0);
    killed.child.kill('SIGKILL');
    await killed.exit;
    await writing;
    apply(killed.out.stdout);
  }
  const last = follow();
  const lastId = await write();
  await until(() => statesOf(last.out.stdout).at(-1)?.pet?.id === lastId);
  last.child.kill('SIGINT');
  expect(await endOf(last)).toMatchObject({ status: 0, err: '' });
  apply(last.out.stdout);
  const pets = new Map<number, unknown>();
  for await (const pet of store.listPets()) pets.set(Number(pet.id), JSON.parse(petJson(pet)));
  expect(copy, BROKEN_PROMISE).toEqual(pets);
});
