/** `animal-store import` of the stores of each kind, and of the address of a server. */

import { expect, test } from 'vitest';
import { createCommands } from '../../src/composition/commands.ts';
import { petJson } from '../../src/domain/pet-json.ts';
import { numberedPet } from '../../src/testing/fixtures/pets.ts';
import { SERVER } from '../adapters/api-client/server.ts';
import { commandLine } from '../adapters/cli/cli.ts';
import { numberedJson } from '../support/pets.ts';
import { STORAGES, type StorageKind } from '../support/server.ts';
import { environmentOf, startInProcess } from '../support/service.ts';

const KINDS: readonly string[] = [...STORAGES, SERVER];

test.each(KINDS.filter((kind) => kind !== 'memory'))('import copies a store: %s', async (kind) => {
  const served = await environmentOf(kind === 'server' ? 'memory' : (kind as StorageKind));
  const service = await startInProcess({ ...served, FIRST_KEY: 'print' });
  const headers = { Authorization: `Bearer ${service.firstKey?.key}`, 'Content-Type': 'application/json' };
  for (const number of [1, 2])
    await fetch(`${service.url}/pets`, {
      method: 'POST',
      headers,
      body: numberedJson(number),
    });
  const address = kind === 'server' ? service.url : served['DATABASE_URL'];
  const { path } = commandLine();
  const environment = { DATABASE_URL: `sqlite:${path}`, API_KEY: service.firstKey?.key };
  const { run } = commandLine(path, createCommands(environment, '1.0.0'));
  const { status, out, err } = await run(['import', '--create-store', address ?? '']);
  expect([status, out], err).toEqual([0, expect.stringMatching(/^Imported 2 pets from /)]);
  expect((await run(['export'])).out).toContain(`\n${petJson({ id: 2n, ...numberedPet(2n) })}\n`);
});
