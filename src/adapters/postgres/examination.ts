import { idProblems } from '../../application/ids-left.ts';
import type { Diagnosis, Problem } from '../../application/ports/maintenance.ts';
import { INVALID_PETS_LIMIT, invalidPetProblems } from '../storage-kit/invalid-pets.ts';
import { changedTables } from '../storage-kit/store-errors.ts';
import { clientConfig, withClient } from './config.ts';
import { detailed } from './errors.ts';
import { orderWarningsOf } from './order.ts';
import { petOf } from './pets.ts';
import { INVALID_PETS, SCHEMA_VERSION, surveyOf, tableFaultsOf } from './schema.ts';
import { locationOf } from './url/index.ts';

const FACTS = `SELECT
  (SELECT count(*) FROM pets)::float8 AS pets,
  (SELECT coalesce(max(id), 0) FROM pets) AS "lastId",
  (SELECT json_build_object('total', count(*), 'active', count(*) FILTER (
    WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $1::bigint))) FROM api_keys) AS "apiKeys",
  (SELECT count(*) FROM idempotency_records)::float8 AS "idempotencyRecords",
  pg_database_size(current_database())::float8 AS bytes`;

type Facts = Pick<Diagnosis, 'pets' | 'apiKeys' | 'idempotencyRecords' | 'bytes'> & { lastId: bigint };

/** Examines a store in PostgreSQL that a server may use. Changes nothing. */
export async function examinePostgresStore(url: string): Promise<Diagnosis> {
  const location = locationOf(url);
  const problems: Problem[] = [];
  const report = (severity: Problem['severity'], message: string) => problems.push({ severity, message });
  const about = { location, supportedSchemaVersion: SCHEMA_VERSION, problems };
  try {
    const config = clientConfig(url);
    return await withClient(config, async (client) => {
      await client.query('BEGIN TRANSACTION READ ONLY');
      const { version: schemaVersion, isOneServer, warnings } = await surveyOf(client);
      for (const message of warnings) report('warning', message);
      if (schemaVersion === undefined) {
        report('error', `${location}: the database contains no store: the start of a server creates it`);
        return { ...about, exists: false };
      }
      for (const fault of isOneServer ? await tableFaultsOf(client) : []) {
        report('error', changedTables(fault).message);
      }
      for (const message of await orderWarningsOf(config)) report('warning', message);
      const { rows } = await client.query<Facts>(FACTS, [Date.now()]);
      const { lastId, ...facts } = rows[0] as Facts;
      const query = { text: INVALID_PETS, values: [INVALID_PETS_LIMIT], rowMode: 'array' };
      const invalid = await client.query<unknown[]>(query);
      problems.push(...invalidPetProblems(invalid.rows.map(petOf)));
      problems.push(...idProblems(lastId));
      return { ...about, exists: true, schemaVersion, ...facts };
    });
  } catch (error) {
    report('error', `${location}: ${detailed(error)}`);
    return { ...about, exists: undefined };
  }
}
