/** What a pet with an attribute that it can lack needs: here, the last one that any value can follow is declared to be one. */

import { expect, test, vi } from 'vitest';
import type { NewPet } from '../../src/domain/pet.ts';
import { petJson } from '../../src/domain/pet-json.ts';
import { optionName, optionsOf, REX } from '../support/pets.ts';

vi.mock(import('../../src/domain/pet.ts'), async (original) => {
  const module = await original();
  const { ATTRIBUTES, PET_ATTRIBUTES } = module;
  const optional = PET_ATTRIBUTES.findLast((name) => ATTRIBUTES[name].kind !== 'one of');
  const newPet: typeof module.newPet = (input) => {
    if (optional === undefined || input[optional] !== undefined) return module.newPet(input);
    const { [optional]: _, ...others } = module.newPet({
      ...input,
      [optional]: ATTRIBUTES[optional].example,
    });
    return others as NewPet;
  };
  return { ...module, newPet, isAlwaysStored: (name) => name !== optional && module.isAlwaysStored(name) };
});

const { inMemory } = await import('../adapters/cli/cli.ts');
const { isAlwaysStored, PET_ATTRIBUTES } = await import('../../src/domain/pet.ts');

test('pets change removes an optional attribute, and offers no removal of any other', async () => {
  const cli = inMemory();
  await cli.openStore().createPet(REX);
  const change = async (...args: string[]) => {
    const { status, out, err } = await cli.run(['pets', 'change', '1', ...args, '--json']);
    return status === 0 ? out.trim() : `${status} ${err}`;
  };
  const { out: help } = await cli.run(['pets', 'change', '--help']);
  const optional = PET_ATTRIBUTES.filter((name) => !isAlwaysStored(name));
  expect(help.match(/--no-[\w-]+ .*/g)?.map((line) => line.replace(/ +/, ' '))).toEqual(
    optional.map((name) => `--no-${optionName(name)} remove the ${name}`),
  );
  for (const name of optional) {
    const removed = petJson({ id: 1n, ...REX, [name]: undefined });
    expect(await change(`--no-${optionName(name)}`)).toBe(removed);
    expect(await change(`--no-${optionName(name)}`)).toBe(removed);
    expect(await change(...optionsOf({ [name]: REX[name] }))).toBe(petJson({ id: 1n, ...REX }));
  }
  for (const name of PET_ATTRIBUTES.filter(isAlwaysStored))
    expect(await change(`--no-${optionName(name)}`)).toMatch(/^2 .*unknown option '--no-/);
});
