/** Runs the contract suite of the pet repository over HTTP, against a server with several threads; on PostgreSQL at night. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { openApiStorage } from '../../../src/adapters/api-client/index.ts';
import type { PetRepository } from '../../../src/application/ports/pet-repository.ts';
import { loadConfig } from '../../../src/composition/config.ts';
import { type Service, startService } from '../../../src/composition/serve.ts';
import { type Opened, petRepositoryContract } from '../../../src/testing/index.ts';
import { registerKey } from '../../support/canary.ts';
import { IS_WHOLE } from '../../support/extent.ts';
import { openClient } from '../../support/postgres/index.ts';
import { OPERATOR_KEY } from '../../support/process.ts';
import { STORAGES } from '../../support/server.ts';
import { environmentOf } from '../../support/service.ts';

const kinds = STORAGES.filter((kind) => kind === 'sqlite' || (kind === 'postgres' && IS_WHOLE));

describe.each(process.platform === 'linux' ? kinds : [])(
  'PetRepository over HTTP on %s, with three threads',
  (kind) => {
    const folder = mkdtempSync(join(tmpdir(), 'animal-store-'));
    let service: Service;
    /** Removes all pets. Starting a server takes longer than a case. */
    let empty: () => Promise<unknown>;
    let end = async (): Promise<void> => {};

    beforeAll(async () => {
      registerKey(OPERATOR_KEY);
      const environment = await environmentOf(kind, folder);
      const { DATABASE_URL = '' } = environment;
      const config = loadConfig({ ...environment, WORKERS: '3', API_KEYS: OPERATOR_KEY });
      service = await startService(config, '1.0.0');
      if (kind === 'sqlite') {
        const db = new Database(join(folder, 'pets.db'));
        empty = async () => db.exec('DELETE FROM pets');
        end = async () => void db.close();
      } else {
        const client = await openClient(DATABASE_URL);
        empty = () => client.query('DELETE FROM pets');
        end = () => client.end();
      }
    });
    afterAll(async () => {
      await service.stop();
      await end();
      rmSync(folder, { recursive: true });
    });

    const openAgain = async (): Promise<Opened<PetRepository>> => {
      const storage = openApiStorage(service.url, {
        apiKey: OPERATOR_KEY,
        timeout: 280_000,
        onDeprecation: () => {},
      });
      return { port: storage.pets, close: () => storage.close() };
    };
    const cases = petRepositoryContract({
      async open() {
        await empty();
        return openAgain();
      },
      reopen: openAgain,
      openSecond: openAgain,
    });
    // Each of many calls goes through the API, on a machine that may stand still.
    for (const { name, run } of cases) test(name, run, 300_000);
  },
);
