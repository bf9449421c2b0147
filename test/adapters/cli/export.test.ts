import { expect, test } from 'vitest';
import { openMemoryStorage } from '../../../src/adapters/memory/index.ts';
import type { PetTransfer } from '../../../src/application/ports/pet-transfer.ts';
import { ATTRIBUTES } from '../../../src/domain/pet.ts';
import { PET_FILTERS } from '../../../src/domain/pet-filter.ts';
import { petJson } from '../../../src/domain/pet-json.ts';
import { petWith, sampleValues } from '../../../src/testing/fixtures/pets.ts';
import { optionsOf, REX } from '../../support/pets.ts';
import { inMemory, lineStream, openSqliteStore, withRex } from './cli.ts';

test.each(PET_FILTERS)('export --%s', async (name) => {
  const [first, second] = sampleValues(ATTRIBUTES[name]).flatMap(
    (value) => petWith(REX, { [name]: value }) ?? [],
  );
  if (first === undefined || second === undefined) return;
  const { run, openStore } = inMemory();
  await Promise.all([first, second].map((pet) => openStore().createPet(pet)));
  const { out, err } = await run(['export', ...optionsOf({ [name]: second[name] })]);
  expect([out, err]).toEqual([`${petJson({ id: 2n, ...second })}\n`, 'Exported 1 pet.\n']);
});

test('export --follow writes earlier and later pets as lines, and ends with the signal', async () => {
  const cli = await withRex();
  const store = openSqliteStore(cli.path);
  const controller = new AbortController();
  const { lines, stdout } = lineStream();
  const running = cli.run(['export', '--follow', '--after', '1'], { stdout, signal: controller.signal });
  await store.createPet(REX);
  await expect.poll(() => lines).toEqual([petJson({ id: 2n, ...REX })]);
  await store.createPet(REX);
  await expect.poll(() => lines).toHaveLength(2);
  controller.abort();
  expect(await running).toEqual({ status: 0, out: '', err: '' });
  await store.close();
});

test('export names each pet that breaks a rule, and writes it as stored', async () => {
  const storage = openMemoryStorage();
  const transfer: PetTransfer = {
    ...storage.transfer,
    async *exportPets() {
      yield [{ id: 0n, ...REX }];
      yield [{ id: 7n, ...REX }];
    },
  };
  const { status, out, err } = await inMemory({ ...storage, transfer }).run(['export']);
  expect([status, out]).toEqual([0, [0n, 7n].map((id) => `${petJson({ id, ...REX })}\n`).join('')]);
  expect(err).toMatch(/^pet 0 cannot be imported: id .*\nExported 2 pets\.\n$/);
});
