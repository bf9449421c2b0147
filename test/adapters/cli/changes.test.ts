/** `pets change`, `pets remove` and `changes`, on one store in memory. */

import { describe, expect, test } from 'vitest';
import { entityTagOf } from '../../../src/application/entity-tag.ts';
import type { Pet } from '../../../src/domain/pet.ts';
import { parsePet, petJson } from '../../../src/domain/pet-json.ts';
import { numberedPet, numberOf } from '../../../src/testing/fixtures/pets.ts';
import { numberedChange, optionsOf } from '../../support/pets.ts';
import { commandLine, failed, failingOutput, inMemory, lineStream } from './cli.ts';

const REX = numberedPet(0n);
const [TOM, MIA] = [numberedChange(1), numberedChange(2)];
const CHANGED_SINCE = failed(
  1,
  'the pet has changed since it was read, or the entity tag is not its own: read it again, then decide',
);

async function withPet() {
  const cli = inMemory();
  const store = cli.openStore();
  const pet = await store.createPet(REX);
  return { ...cli, store, pet, tag: await entityTagOf(pet) };
}

test.each([
  ['pets', 'change', '1', ...optionsOf(TOM)],
  ['pets', 'remove', '1'],
  ['keys', 'create', '--name', 'x'],
  ['keys', 'rotate', '1', '--overlap', '0'],
  ['keys', 'revoke', '1'],
  ['changes', '--new-epoch'],
])('an interruption while the store is opened prevents the write: %s %s', async (...args) => {
  const end = new AbortController();
  const { openStore } = await withPet();
  await openStore().apiKeys.create('first');
  const state = async () => [await openStore().listChanges(), await openStore().apiKeys.list()];
  const before = await state();
  const openingStore = async () => {
    end.abort();
    return openStore();
  };
  const { status, err } = await commandLine('', { openStore: openingStore }).run(args, {
    signal: end.signal,
  });
  expect([status, err]).toEqual([1, expect.stringMatching(/^animal-store: interrupted; /)]);
  expect(await state()).toEqual(before);
});

describe('pets change', () => {
  test('changes a pet, and shows the pet', async () => {
    const { run, pet } = await withPet();
    const out = `${petJson({ ...pet, ...TOM } as Pet)}\n`;
    const change = ['pets', 'change', '1', ...optionsOf(TOM)];
    expect(await run([...change, '--json'])).toEqual({ status: 0, out, err: '' });
    expect(await run(change)).toEqual(await run(['pets', 'get', '1']));
    expect(await run(['pets', 'change', '9', ...optionsOf(TOM)])).toEqual(
      failed(1, 'there is no pet with id 9'),
    );
  });

  test('is for the version with the entity tag, whose quotes a shell can remove', async () => {
    const { run, tag } = await withPet();
    const change = (...args: string[]) => run(['pets', 'change', '1', ...args]);
    expect((await change(...optionsOf(TOM), '--if-match', tag.slice(1, -1))).status).toBe(0);
    expect(await change(...optionsOf(MIA), '--if-match', tag)).toEqual(CHANGED_SINCE);
    expect((await change(...optionsOf(MIA), '--if-match', '*')).status).toBe(0);
  });

  test('with an idempotency key, changes a pet once', async () => {
    const { run, store } = await withPet();
    const args = ['pets', 'change', '1', ...optionsOf(TOM), '--idempotency-key', 'k', '--json'];
    const first = await run(args);
    await store.changePet(1n, MIA);
    const note = 'This pet was changed earlier with the same idempotency key.\n';
    expect(await run(args)).toEqual({ ...first, err: note });
    expect(numberOf(await store.getPet(1n))).toBe(2n);
  });

  test('says that the pet was changed when it cannot be shown', async () => {
    const { run } = await withPet();
    const { status, err } = await run(['pets', 'change', '1', ...optionsOf(TOM)], {
      stdout: failingOutput('ENOSPC'),
    });
    expect([status, err]).toEqual([1, expect.stringContaining('pet 1 was changed, but standard output')]);
  });

  test('without an attribute is wrong usage', async () => {
    const { status, err } = await (await withPet()).run(['pets', 'change', '1']);
    expect([status, err]).toEqual([2, expect.stringContaining('expected an option of an attribute')]);
    expect(err).toContain('(see animal-store pets change --help)');
  });
});

test('pets remove removes a pet, and again without an error', async () => {
  const { run, tag } = await withPet();
  expect(await run(['pets', 'remove', '1', '--if-match', 'other'])).toEqual(CHANGED_SINCE);
  const removed = { status: 0, out: 'Pet 1 is removed.\n', err: '' };
  const once = ['pets', 'remove', '1', '--idempotency-key', 'k'];
  expect(await run([...once, '--if-match', tag])).toEqual(removed);
  expect(await run(['pets', 'remove', '1'])).toEqual(removed);
  expect(await run(['pets', 'remove', '1', '--json'])).toEqual({ ...removed, out: '{"removed":1}\n' });
  expect((await run(once)).err).toBe('This pet was removed earlier with the same idempotency key.\n');
  expect((await run(['pets', 'remove', '9'])).status).toBe(1);
});

describe('changes', () => {
  test('refuses what is not a cursor as wrong usage', async () => {
    const { status, err } = await (await withPet()).run(['changes', '--after', 'x']);
    expect([status, err]).toEqual([2, expect.stringContaining('expected the cursor of a change, such as ')]);
  });

  test('writes the states of all pets as lines, also over several pages, and goes on after a cursor', async () => {
    const { run, store, pet, tag } = await withPet();
    await Promise.all(Array.from({ length: 120 }, () => store.createPet(REX)));
    await store.removePet(2n);
    const { status, out, err } = await run(['changes']);
    const lines = out.trim().split('\n');
    expect([status, err, lines.length]).toEqual([0, '', 121]);
    const { cursor } = JSON.parse(lines[0] ?? '') as { cursor: string };
    expect(lines[0]).toBe(`{"cursor":"${cursor}","pet":${petJson(pet)},"etag":${JSON.stringify(tag)}}`);
    expect(lines.at(-1)).toMatch(/^\{"cursor":"[\da-f]{16}-122","removed":2\}$/);
    const last = (JSON.parse(lines.at(-1) ?? '') as { cursor: string }).cursor;
    const { pet: changed } = await store.changePet(pet.id, TOM);
    const later = await run(['changes', '--after', last]);
    expect(parsePet(/"pet":(\{.*?\})/.exec(later.out)?.[1] ?? '')).toEqual(changed);
    expect(later.out.trim().split('\n')).toHaveLength(1);
  });

  test('--follow goes on until the signal, with status 0', async () => {
    const { run, store } = await withPet();
    const controller = new AbortController();
    const { lines, stdout } = lineStream();
    const running = run(['changes', '--follow'], { stdout, signal: controller.signal });
    await expect.poll(() => lines).toHaveLength(1);
    await store.removePet(1n);
    await expect.poll(() => lines, { timeout: 5000 }).toHaveLength(2);
    expect(lines[1]).toContain('"removed":1}');
    controller.abort();
    expect(await running).toEqual({ status: 0, out: '', err: '' });
  });

  test('--new-epoch makes followers begin again, with a message and status 1', async () => {
    const { run } = await withPet();
    const { cursor } = JSON.parse((await run(['changes'])).out) as { cursor: string };
    const controller = new AbortController();
    const { lines, stdout } = lineStream();
    const following = run(['changes', '--follow'], { stdout, signal: controller.signal });
    await expect.poll(() => lines).toHaveLength(1);
    const out = 'A new epoch has begun: every follower must begin again.\n';
    expect(await run(['changes', '--new-epoch'])).toEqual({ status: 0, out, err: '' });
    const restart = failed(
      1,
      'the cursor is of another epoch of the store, as after a restore, or was never assigned: begin without after, and replace the copy',
    );
    expect(await following).toEqual(restart);
    expect(await run(['changes', '--after', cursor])).toEqual(restart);
    expect(await run(['changes', '--after', cursor, '--follow'])).toEqual(restart);
    expect((await run(['changes'])).status).toBe(0);
  });
});
