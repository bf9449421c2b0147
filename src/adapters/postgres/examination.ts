/** Examines a store in PostgreSQL. */

import type { Diagnosis, Problem } from '../../application/ports/maintenance.ts';
import { INVALID_PETS_LIMIT, idProblems, invalidPetProblems } from '../storage-kit/problems.ts';
import { clientConfig } from './config.ts';
import { openSession } from './connection-pool.ts';
import { detailed } from './errors.ts';
import {
  invalidPets,
  LAST_ID,
  READ_NOTHING,
  READ_ONLY,
  SCHEMA_VERSION,
  sequencesBehind,
  surveyOf,
} from './schema.ts';
import { locationOf } from './url/index.ts';

const FACTS = `SELECT
  (SELECT count(*) FROM pets)::float8, (SELECT coalesce(${LAST_ID}, 0) FROM pets), count(*)::float8,
  count(*) FILTER (WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $1::bigint))::float8,
  (SELECT count(*) FROM idempotency_records)::float8, pg_database_size(current_database())::float8
  FROM api_keys`;

/** Examines a store, which servers may use at the same time. Changes nothing. */
export async function examinePostgresStore(url: string): Promise<Diagnosis> {
  const location = locationOf(url);
  const problems: Problem[] = [];
  const report = (severity: Problem['severity'], message: string) => problems.push({ severity, message });
  const about = { location, supportedSchemaVersion: SCHEMA_VERSION, problems };
  try {
    using session = await openSession(clientConfig(url));
    await session.begin('READ ONLY');
    const survey = await surveyOf(session);
    const { version: schemaVersion } = survey;
    for (const message of [...survey.warnings, ...survey.lacking]) report('warning', message);
    for (const message of [...survey.faults, ...survey.hidden]) report('error', message);
    if (survey.isReadOnly) report('error', READ_ONLY);
    if (schemaVersion === undefined) {
      report('error', `${location}: the database contains no store: the start of a server creates it`);
      return { ...about, exists: false };
    }
    if (schemaVersion === SCHEMA_VERSION) await session.run(READ_NOTHING);
    // In an older schema, the sequences cannot be checked, because a table is missing. The next start of a server adds the table,
    // and checks the sequences.
    if (survey.isOneServer && schemaVersion === SCHEMA_VERSION)
      for (const { message } of await sequencesBehind(session)) report('error', message);
    const [facts = []] = await session.run(FACTS, [Date.now()]);
    const [pets, lastId, total, active, idempotencyRecords, bytes] = facts as Facts;
    problems.push(
      ...invalidPetProblems(await invalidPets(session, INVALID_PETS_LIMIT)),
      ...idProblems(lastId),
    );
    const apiKeys = { total, active };
    return { ...about, exists: true, schemaVersion, pets, apiKeys, idempotencyRecords, bytes };
  } catch (error) {
    report('error', `${location}: ${detailed(error)}`);
    return { ...about, exists: undefined };
  }
}

type Facts = [pets: number, lastId: bigint, ...numbers: [number, number, number, number]];
