/** What a pet with an attribute that it can lack needs: here, `categoryId` is declared to be one. */

import { expect, test, vi } from 'vitest';
import { REX, wholeJson } from '../support/pets.ts';

vi.mock(import('../../src/domain/pet.ts'), async (original) => {
  const module = await original();
  return { ...module, isAlwaysStored: (name) => name !== 'categoryId' && module.isAlwaysStored(name) };
});

const { inMemory } = await import('../adapters/cli/cli.ts');

test('pets change removes an optional attribute, and offers no removal of any other', async () => {
  const cli = inMemory();
  await cli.openStore().createPet(REX);
  const change = async (...args: string[]) => {
    const { status, out, err } = await cli.run(['pets', 'change', '1', ...args, '--json']);
    return status === 0 ? out.trim() : `${status} ${err}`;
  };
  const { out: help } = await cli.run(['pets', 'change', '--help']);
  expect(help.match(/--no-[\w-]+ .*/g)).toEqual(['--no-category-id         remove the categoryId']);
  const named = wholeJson('{"id":1,"name":"Tom","categoryId":1,"status":"available"}');
  expect(await change('--name', 'Tom')).toBe(named);
  const removed = named.replace('"categoryId":1,', '');
  expect(await change('--no-category-id')).toBe(removed);
  expect(await change('--no-category-id')).toBe(removed);
  expect(await change('--category-id', '5')).toContain('"categoryId":5');
  expect(await change('--no-name')).toMatch(/^2 .*unknown option '--no-name'/);
});
