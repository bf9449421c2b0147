import { expect, test } from 'vitest';
import { changeTo, MAX, optionsOf } from '../support/pets.ts';
import { startServer } from '../support/server.ts';
import { Workspace } from './workspace.ts';

const CHANGE = optionsOf(changeTo(MAX));

test('the command says what a server lacks that does not serve changes', async () => {
  const { origin, key } = await startServer('memory');
  const environment = { DATABASE_URL: `${origin}/v1`, API_KEY: key };
  const message = 'animal-store: the server does not serve changes: start it with EXPERIMENTAL=on\n';
  for (const args of [['changes'], ['pets', 'change', '1', ...CHANGE], ['pets', 'remove', '1']])
    expect(await new Workspace().runHere(args, '', environment)).toMatchObject({
      status: 1,
      out: '',
      err: message,
    });
});
