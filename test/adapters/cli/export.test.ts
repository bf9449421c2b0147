import { expect, test } from 'vitest';
import { ATTRIBUTES } from '../../../src/domain/pet.ts';
import { PET_FILTERS } from '../../../src/domain/pet-filter.ts';
import { petJson } from '../../../src/domain/pet-json.ts';
import { petWith, sampleValues } from '../../../src/testing/fixtures/pets.ts';
import { optionsOf, REX } from '../../support/pets.ts';
import { abortingOutput, failed, inMemory, lineStream, openSqliteStore, withRex } from './cli.ts';

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
  const args = ['export', '--follow', '--after', '1'];
  const running = cli.run(args, { stdout, signal: controller.signal });
  await store.createPet(REX);
  await expect.poll(() => lines).toEqual([petJson({ id: 2n, ...REX })]);
  await store.createPet(REX);
  await expect.poll(() => lines).toHaveLength(2);
  controller.abort();
  expect(await running).toEqual({ status: 0, out: '', err: '' });
  await store.close();
});

test('the signal cancels an export that waits for its reader', async () => {
  const cli = await withRex();
  expect(await cli.run(['export'], abortingOutput())).toEqual(
    failed(1, 'interrupted; the export is not complete'),
  );
});
