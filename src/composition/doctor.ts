import { commandLine, type DoctorReport } from '../adapters/cli/index.ts';
import type { Diagnosis, Problem } from '../application/ports/maintenance.ts';
import type { Environment } from './config/settings.ts';
import { type Config, idempotencyNotice, loadClient, loadConfig, loadDatabase } from './config.ts';
import type { Database } from './databases/database.ts';
import { connectionsWithin, descriptorLimit } from './descriptors.ts';

const FEW_CONNECTIONS = 100;

/** Examines the settings of a server and its store, and changes nothing. */
export async function diagnose(
  environment: Environment,
  databaseUrl: string | undefined,
  program: string,
): Promise<DoctorReport> {
  const problems: Problem[] = [];
  // The faults of the database are among the faults of the configuration.
  const database = await attempt(() => loadDatabase(environment, databaseUrl), []);
  // For the address of another server, the settings of a server on this machine do not matter.
  const isLocal = !database?.isRemote;
  const config = isLocal
    ? await attempt(() => loadConfig(environment, { databaseUrl }), problems)
    : undefined;
  const examine = (of: Database) => of.examine(loadClient(environment, of));
  const diagnosis = database && (await attempt(() => examine(database), problems));
  problems.push(...(diagnosis?.problems ?? []));
  const fileDescriptors = isLocal ? descriptorLimit() : undefined;
  if (config !== undefined) {
    if (diagnosis !== undefined)
      problems.push(
        ...keyProblems(config, diagnosis, commandLine(program, 'keys create --name NAME', databaseUrl)),
      );
    problems.push(...connectionProblems(config, fileDescriptors));
    const message = idempotencyNotice(config, diagnosis?.idempotencyDays);
    if (message !== undefined) problems.push({ severity: 'warning', message });
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

/** If `work` fails, adds each line of the error to the problems. */
async function attempt<T>(work: () => T | Promise<T>, problems: Problem[]): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    problems.push(...(error as Error).message.split('\n').map(errorOf));
    return undefined;
  }
}

function keyProblems(
  { apiKeys, firstKey }: Config,
  { exists, apiKeys: stored }: Diagnosis,
  create: string,
): Problem[] {
  if (exists === undefined || apiKeys.length > 0 || (stored !== undefined && stored.active > 0)) return [];
  if (stored !== undefined && stored.total > 0)
    return [errorOf(`no API key is valid: ${create} creates one`)];
  return firstKey === 'none'
    ? [errorOf(`the store has no API key, and FIRST_KEY is none: ${create} creates one`)]
    : [];
}

function connectionProblems(
  { workers, http: { maxConnections } }: Config,
  limit: number | undefined,
): Problem[] {
  const possible = connectionsWithin(limit, workers);
  if (possible === undefined) return [];
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
