import { commandLine, type DoctorReport } from '../adapters/cli/index.ts';
import type { BackupContents, Diagnosis, Problem } from '../application/ports/maintenance.ts';
import type { Environment } from './config/settings.ts';
import { type Config, loadClient, loadConfig, loadDatabase } from './config.ts';
import type { SelectedDatabase } from './databases/database.ts';
import { connectionsWithin, descriptorLimit } from './descriptors.ts';

const FEW_CONNECTIONS = 100;

/** Examines the settings of a server and its store, and changes nothing. */
export async function diagnose(
  environment: Environment,
  databaseUrl: string | undefined,
  program: string,
  backup?: string,
): Promise<DoctorReport> {
  const problems: Problem[] = [];
  const database = await attempt(() => loadDatabase(environment, databaseUrl), problems);
  const refused = problems.map(sourceOf);
  // For the address of another server, the settings of a server on this machine do not matter.
  const isLocal = !database?.isRemote;
  const faults: Problem[] = [];
  const config = isLocal ? await attempt(() => loadConfig(environment, { databaseUrl }), faults) : undefined;
  // The configuration of a server has the fault of the database too, but no server has the address of another one.
  problems.push(...faults.filter((fault) => !refused.includes(sourceOf(fault))));
  const examine = (of: SelectedDatabase) => of.examine(loadClient(environment, of));
  const diagnosis = database && (await attempt(() => examine(database), problems));
  problems.push(...(diagnosis?.problems ?? []));
  const contents =
    backup === undefined
      ? undefined
      : await attempt(async () => await database?.examineBackup(backup), problems);
  if (contents !== undefined) problems.push(...contents.problems, ...backupProblems(contents, diagnosis));
  const fileDescriptors = isLocal ? descriptorLimit() : undefined;
  if (config !== undefined) {
    if (diagnosis !== undefined)
      problems.push(
        ...keyProblems(config, diagnosis, commandLine(program, 'keys create --name NAME', databaseUrl)),
      );
    problems.push(...connectionProblems(config, fileDescriptors));
  }
  return {
    node: process.version,
    fileDescriptors,
    source: database?.source,
    scheme: database?.scheme,
    database: diagnosis,
    backup: contents && { file: backup ?? '', ...contents },
    problems,
  };
}

/** If `work` fails, adds each line of the error to the problems. */
async function attempt<T>(work: () => T | Promise<T>, problems: Problem[]): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    problems.push(...(error as Error).message.split('\n').map(errorProblem));
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
    return [errorProblem(`no API key is valid: ${create} creates one`)];
  return firstKey === 'none'
    ? [errorProblem(`the store has no API key, and FIRST_KEY is none: ${create} creates one`)]
    : [];
}

/** A store only grows, so that it has at least as many pets as an older backup of it. */
function backupProblems(backup: BackupContents, { pets, lastId }: Partial<Diagnosis> = {}): Problem[] {
  if (pets === undefined || lastId === undefined) return [];
  if (backup.pets <= pets && backup.lastId <= lastId) return [];
  const message = `the backup has ${backup.pets} pets up to id ${backup.lastId}, the store only ${pets} up to id ${lastId}: it is a backup of another store, or an older backup was restored since`;
  return [errorProblem(message)];
}

function connectionProblems(
  { workers, http: { maxConnections } }: Config,
  limit: number | undefined,
): Problem[] {
  const possible = connectionsWithin(limit, workers);
  if (possible === undefined) return [];
  if (maxConnections !== undefined && maxConnections > possible) {
    const message = `MAX_CONNECTIONS: ${maxConnections} connections do not fit into the limit of ${limit} file descriptors (ulimit -n)`;
    return [errorProblem(message)];
  }
  if (possible >= FEW_CONNECTIONS) return [];
  const message = `the limit of ${limit} file descriptors (ulimit -n) allows only ${possible} connections`;
  return [{ severity: 'warning', message }];
}

/** Returns the setting that a problem is about. */
function sourceOf({ message }: Problem): string | undefined {
  return message.split(': ')[0];
}

function errorProblem(message: string): Problem {
  return { severity: 'error', message };
}
