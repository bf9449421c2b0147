import type { Diagnosis, Problem } from '../../application/ports/maintenance.ts';
import { clientConfig, locationOf } from './config.ts';
import { detailed } from './errors.ts';
import { readVersion, SCHEMA_VERSION, warningsOf, withClient } from './schema.ts';

const FACTS = `SELECT
  (SELECT count(*) FROM pets) AS pets,
  (SELECT count(*) FROM api_keys) AS keys,
  (SELECT count(*) FROM api_keys
    WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $1::bigint)) AS active_keys,
  (SELECT count(*) FROM idempotency_records) AS records,
  pg_database_size(current_database()) AS bytes`;

/** Examines a store in PostgreSQL that a server may use. Changes nothing. */
export async function examinePostgresStore(url: string): Promise<Diagnosis> {
  const location = locationOf(url);
  const problems: Problem[] = [];
  const report = { location, supportedSchemaVersion: SCHEMA_VERSION, problems };
  try {
    return await withClient(clientConfig(url), async (client) => {
      await client.query('BEGIN TRANSACTION READ ONLY');
      const schemaVersion = await readVersion(client);
      for (const message of await warningsOf(client)) problems.push({ severity: 'warning', message });
      if (schemaVersion === undefined) {
        const message = `${location}: the database contains no store: the start of a server creates it`;
        problems.push({ severity: 'error', message });
        return { ...report, exists: false };
      }
      const { rows } = await client.query<Record<string, bigint>>(FACTS, [Date.now()]);
      const [facts = {}] = rows;
      return {
        ...report,
        exists: true,
        schemaVersion,
        pets: Number(facts['pets']),
        apiKeys: { total: Number(facts['keys']), active: Number(facts['active_keys']) },
        idempotencyRecords: Number(facts['records']),
        bytes: Number(facts['bytes']),
      };
    });
  } catch (error) {
    problems.push({ severity: 'error', message: `${location}: ${detailed(error)}` });
    return { ...report, exists: undefined };
  }
}
