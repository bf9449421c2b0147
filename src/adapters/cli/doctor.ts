import type { DoctorReport } from './doctor-report.ts';
import { CommandError } from './errors.ts';
import type { CliOptions } from './options.ts';
import { counted, number } from './progress.ts';
import { visible } from './visible.ts';

export interface DoctorFlags {
  readonly json?: boolean;
}

/** How the report shows whether there is a store. */
const EXISTS = { true: 'yes', false: 'no', undefined: 'unknown' } as const;

/** Prints the facts about the settings and the store, and the problems. Fails if a problem is an error. */
export async function doctor(
  { json }: DoctorFlags,
  databaseUrl: string | undefined,
  { console, version, diagnose }: CliOptions,
): Promise<void> {
  const report = await diagnose(databaseUrl);
  const text = json
    ? JSON.stringify(fieldsOf(report, version), null, 2)
    : linesOf(report, version).join('\n');
  await console.out(`${text}\n`);
  const errors = report.problems.filter(({ severity }) => severity === 'error').length;
  if (errors > 0) throw new CommandError(`${counted(errors, 'error')} found`);
}

function linesOf(report: DoctorReport, version: string): string[] {
  const { node, source, database, fileDescriptors, problems } = report;
  const { schemaVersion, supportedSchemaVersion: supported, isSound, apiKeys } = database ?? {};
  const records = database?.idempotencyRecords;
  const facts: readonly (readonly [name: string, value: string | undefined])[] = [
    ['version', `${version}, Node.js ${node.replace('v', '')}`],
    ['store', database?.location],
    ['selected by', source],
    ['exists', database && EXISTS[`${database.exists}`]],
    [
      'schema',
      supported === undefined ? undefined : `${schemaVersion ?? '-'}, this release writes ${supported}`,
    ],
    ['integrity', isSound === undefined ? undefined : isSound ? 'ok' : 'damaged'],
    ['size', database?.bytes === undefined ? undefined : `${number(database.bytes)} bytes`],
    ['pets', database?.pets === undefined ? undefined : number(database.pets)],
    ['keys', apiKeys && `${number(apiKeys.total)}, of which ${number(apiKeys.active)} active`],
    [
      'records',
      records === undefined ? undefined : `${number(records)} of idempotency keys of the last 24 hours`,
    ],
    ['free disk', database?.freeBytes === undefined ? undefined : `${number(database.freeBytes)} bytes`],
    ['descriptors', fileDescriptors === undefined ? undefined : `at most ${number(fileDescriptors)}`],
  ];
  const known = facts.filter(([, value]) => value !== undefined);
  const lines = known.map(([name, value = '']) => `${name.padEnd(12)} ${visible(value)}`);
  const found = problems.map(({ severity, message }) => `${severity.padEnd(12)} ${visible(message)}`);
  return [...lines, '', ...(found.length > 0 ? found : ['No problem was found.'])];
}

/** Returns the report as members of JSON. A missing value is `null`. */
function fieldsOf(
  { node, source, scheme, database, fileDescriptors, problems }: DoctorReport,
  version: string,
) {
  return {
    version,
    node,
    database: database
      ? {
          source: source ?? null,
          scheme: scheme ?? null,
          location: database.location,
          exists: database.exists ?? null,
          schemaVersion: database.schemaVersion ?? null,
          supportedSchemaVersion: database.supportedSchemaVersion ?? null,
          isSound: database.isSound ?? null,
          bytes: database.bytes ?? null,
          pets: database.pets ?? null,
          apiKeys: database.apiKeys ?? null,
          idempotencyRecords: database.idempotencyRecords ?? null,
          freeBytes: database.freeBytes ?? null,
        }
      : null,
    fileDescriptors: fileDescriptors ?? null,
    problems,
  };
}
