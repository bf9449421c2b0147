/** Examines the settings and the store, and reports what an operator should change. */

import type { DoctorReport } from '../adapters/cli/index.ts';
import type { Diagnosis, Problem } from '../application/ports/maintenance.ts';
import {
  type Config,
  ConfigError,
  type ConfiguredDatabase,
  type Environment,
  loadAnyDatabase,
  loadConfig,
} from './config.ts';
import { DATABASES } from './databases/index.ts';
import { connectionsWithin, descriptorLimit } from './descriptors.ts';

const CREATE = 'animal-store keys create --name NAME creates one';

/** The number of connections below which the limit of file descriptors is a problem. */
const FEW_CONNECTIONS = 100;

/**
 * Examines the settings of a server and its store. Changes nothing, and creates no store. Problems are a part of the
 * report, and not errors.
 *
 * @param databaseUrl the value of `--database-url`, which has precedence over the environment
 */
export async function diagnose(
  environment: Environment,
  databaseUrl: string | undefined,
): Promise<DoctorReport> {
  const problems: Problem[] = [];
  const config = withoutFaults(() => loadConfig(environment, { databaseUrl }), problems);
  // The faults of the database are among the faults of the configuration.
  const database = config?.database ?? withoutFaults(() => loadAnyDatabase(environment, databaseUrl), []);
  const diagnosis = database && (await examine(database, problems));
  const fileDescriptors = descriptorLimit();
  if (config !== undefined) {
    if (diagnosis !== undefined) problems.push(...keyProblems(config, diagnosis));
    if (fileDescriptors !== undefined) problems.push(...connectionProblems(config, fileDescriptors));
  }
  return {
    node: process.version,
    fileDescriptors,
    source: database?.source,
    scheme: database?.scheme,
    database: diagnosis,
    problems,
  };
}

/** Returns the result of `load`. Adds the faults of the configuration to the problems. */
function withoutFaults<T>(load: () => T, problems: Problem[]): T | undefined {
  try {
    return load();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    problems.push(...error.message.split('\n').map(errorOf));
    return undefined;
  }
}

async function examine(database: ConfiguredDatabase, problems: Problem[]): Promise<Diagnosis | undefined> {
  try {
    const diagnosis = await DATABASES.examine(database);
    problems.push(...diagnosis.problems);
    return diagnosis;
  } catch (error) {
    problems.push(errorOf(`${database.source}: ${(error as Error).message}`));
    return undefined;
  }
}

function keyProblems({ apiKeys, firstKey }: Config, { exists, apiKeys: stored }: Diagnosis): Problem[] {
  if (exists === undefined || apiKeys.length > 0 || (stored !== undefined && stored.active > 0)) return [];
  if (stored !== undefined && stored.total > 0) return [errorOf(`no API key is valid: ${CREATE}`)];
  return firstKey.kind === 'none'
    ? [errorOf(`the store has no API key, and FIRST_KEY is none: ${CREATE}`)]
    : [];
}

function connectionProblems({ maxConnections }: Config, limit: number): Problem[] {
  const possible = connectionsWithin(limit);
  if (maxConnections !== undefined && maxConnections > possible) {
    const message = `MAX_CONNECTIONS: ${maxConnections} connections do not fit into the limit of ${limit} file descriptors (ulimit -n)`;
    return [errorOf(message)];
  }
  if (possible >= FEW_CONNECTIONS) return [];
  const message = `the limit of ${limit} file descriptors (ulimit -n) allows only ${possible} connections`;
  return [{ severity: 'warning', message }];
}

function errorOf(message: string): Problem {
  return { severity: 'error', message };
}
