/** `animal-store import` of the stores of each kind, and of the address of a server. */

import { expect, onTestFinished, test } from 'vitest';
import { createCommands } from '../../src/composition/commands.ts';
import { openDatabase, parseDatabase } from '../../src/composition/databases/database.ts';
import { postgres } from '../../src/composition/databases/postgres.ts';
import { petJson } from '../../src/domain/pet-json.ts';
import { numberedPet } from '../../src/testing/fixtures/pets.ts';
import { SERVER } from '../adapters/api-client/server.ts';
import { commandLine } from '../adapters/cli/cli.ts';
import { changed, withSetting } from '../adapters/postgres/database.ts';
import { numberedJson, REX } from '../support/pets.ts';
import { describePostgres, newDatabaseUrl } from '../support/postgres/index.ts';
import { startTunnel } from '../support/postgres/tunnel.ts';
import { STORAGES, type StorageKind } from '../support/server.ts';
import { clientOf, environmentOf, startInProcess } from '../support/service.ts';

const KINDS: readonly string[] = [...STORAGES, SERVER];

test.each(KINDS.filter((kind) => kind !== 'memory'))('import copies a store: %s', async (kind) => {
  const served = await environmentOf(kind === 'server' ? 'memory' : (kind as StorageKind));
  const service = await startInProcess(served);
  for (const number of [1, 2]) await clientOf(service).post(numberedJson(number));
  const url = kind === 'server' ? service.url : served['DATABASE_URL'];
  // The scheme of a URL has no case.
  const address = url?.replace(/^\w+/, (scheme) => scheme.toUpperCase());
  const { path } = commandLine();
  const environment = { DATABASE_URL: `sqlite:${path}`, API_KEY: service.firstKey?.key };
  const { run } = commandLine(path, createCommands(environment, '1.0.0'));
  const { status, out, err } = await run(['import', '--create-store', address ?? '']);
  expect([status, out], err).toEqual([0, expect.stringMatching(/^Imported 2 pets from /)]);
  expect((await run(['export'])).out).toContain(`\n${petJson({ id: 2n, ...numberedPet(2n) })}\n`);
});

describePostgres('a source in PostgreSQL', () => {
  test('accepts no changes, and is opened with the options of its URL', async () => {
    const url = await newDatabaseUrl();
    const open = async (of: string, readOnly: boolean) => {
      const storage = await openDatabase(parseDatabase([postgres], of), { readOnly, mustExist: readOnly });
      onTestFinished(() => storage.close());
      return storage;
    };
    await (await open(url, false)).pets.add(REX);
    const writable = withSetting(url, 'default_transaction_read_only', 'off');
    const { hostname: host, port } = new URL(url);
    let sent = '';
    const tunnel = await startTunnel({ host, port: Number(port) }, (client, server) => {
      client.on('data', (data) => {
        sent += data;
      });
      client.pipe(server).pipe(client);
    });
    const address = changed(writable, { port: `${tunnel.port}` });
    const source = await open(address.replace('?', '?application_name=a?b&'), true);
    // Poolers refuse startup parameters, and may give the session to another client.
    expect(sent).not.toContain('read_only=on');
    await expect(source.pets.add(REX)).rejects.toMatchObject({ reason: 'read_only' });
    expect(await source.pets.find(1n)).toMatchObject(REX);
    await expect(open(withSetting(url, 'search_path', 'elsewhere'), true)).rejects.toThrow('no store');
  });
});
