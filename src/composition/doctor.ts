/** Examines the settings of a server and its store, for a page that says what is there and what an operator should change. */

import { commandLine, type DoctorReport } from '../adapters/cli/index.ts';
import type { BackupContents, Diagnosis, Problem } from '../application/ports/maintenance.ts';
import type { Environment } from './config/settings.ts';
import { type Config, loadClient, loadConfig, loadDatabase, shownSettings } from './config.ts';
import type { SelectedDatabase } from './databases/database.ts';

/** Changes nothing, and creates no store. */
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
  // The configuration of a server has the fault of the URL too.
  problems.push(...faults.filter((fault) => !refused.includes(sourceOf(fault))));
  const examine = (of: SelectedDatabase) => of.examine(loadClient(environment, of));
  const diagnosis = database && (await attempt(() => examine(database), problems));
  problems.push(...(diagnosis?.problems ?? []));
  const check = async () => (backup === undefined ? undefined : await database?.examineBackup(backup));
  const contents = await attempt(check, problems);
  if (contents !== undefined) problems.push(...contents.problems, ...backupProblems(contents, diagnosis));
  if (config !== undefined && diagnosis !== undefined) {
    const create = commandLine(program, 'keys create --name NAME', databaseUrl);
    problems.push(...keyProblems(config, diagnosis, create));
  }
  return {
    node: process.version,
    settings: isLocal ? shownSettings(environment) : [],
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

/** Returns the setting that a problem is about. */
function sourceOf({ message }: Problem): string | undefined {
  return message.split(': ')[0];
}

function errorProblem(message: string): Problem {
  return { severity: 'error', message };
}
