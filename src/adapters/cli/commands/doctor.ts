import { visible } from '../../../domain/visible.ts';
import { CommandError } from '../errors.ts';
import type { CommandOptions, DoctorReport, JsonFlag } from '../options.ts';
import { contentsText, counted, number } from '../output/format.ts';

const EXISTS = { true: 'yes', false: 'no', undefined: 'unknown' } as const;

/** The order of the members in JSON. */
const FACTS = [
  ...(['location', 'exists', 'schemaVersion', 'supportedSchemaVersion', 'isSound', 'bytes'] as const),
  ...(['pets', 'apiKeys', 'idempotencyRecords', 'freeBytes'] as const),
];

/** Fails if a problem is an error. */
export async function doctor(
  { json, backup }: JsonFlag & { readonly backup?: string },
  { console, version, databaseUrl, diagnose }: CommandOptions,
): Promise<void> {
  const report = await diagnose(databaseUrl, backup);
  await console.out(`${json ? jsonOf(report, version) : linesOf(report, version).join('\n')}\n`);
  const errors = report.problems.filter(({ severity }) => severity === 'error').length;
  if (errors > 0) throw new CommandError(`${counted(errors, 'error')} found`);
}

function linesOf(report: DoctorReport, version: string): string[] {
  const { node, source, database, backup, settings, problems } = report;
  const { schemaVersion, supportedSchemaVersion, isSound, bytes, pets, apiKeys } = database ?? {};
  const { idempotencyRecords, freeBytes } = database ?? {};
  const facts = [
    ['version', `${version}, Node.js ${node.replace('v', '')}`],
    ['store', database?.location],
    ['selected by', source],
    ['exists', database && EXISTS[`${database.exists}`]],
    ['schema', shown(supportedSchemaVersion, (own) => `${schemaVersion ?? '-'}, this release writes ${own}`)],
    ['integrity', shown(isSound, (sound) => (sound ? 'ok' : 'damaged'))],
    ['size', shown(bytes, (count) => `${number(count)} bytes`)],
    ['pets', shown(pets, number)],
    ['keys', shown(apiKeys, ({ total, active }) => `${number(total)}, of which ${number(active)} active`)],
    ['records', shown(idempotencyRecords, (count) => `${number(count)} of idempotency keys`)],
    ['backup', backup && `${backup.file} is sound: ${contentsText(backup)}`],
    ['free disk', shown(freeBytes, (count) => `${number(count)} bytes`)],
    ['settings', settings.map(({ name, value }) => `${name}=${value}`).join(' ') || 'the defaults'],
  ] as const;
  const known = facts.flatMap(([name, value]) => shown(value, (text) => lineOf(name, text)) ?? []);
  const found = problems.map(({ severity, message }) => lineOf(severity, message));
  return [...known, '', ...(found.length > 0 ? found : ['No problem was found.'])];
}

function lineOf(name: string, value: string): string {
  return `${name.padEnd(12)} ${visible(value)}`;
}

function shown<T>(fact: T | undefined, format: (fact: T) => string): string | undefined {
  return fact === undefined ? undefined : format(fact);
}

/** Returns the report as JSON. A missing value is `null`. */
function jsonOf(report: DoctorReport, version: string): string {
  const { node, source, scheme, database, backup, settings, problems } = report;
  const facts = database && {
    source,
    scheme,
    ...Object.fromEntries(FACTS.map((name) => [name, database[name]])),
  };
  const contents = backup && {
    file: backup.file,
    pets: backup.pets,
    apiKeys: backup.apiKeys,
    lastId: String(backup.lastId),
  };
  const members = { version, node, database: facts, backup: contents, settings, problems };
  return JSON.stringify(members, (_, value: unknown) => value ?? null, 2);
}
