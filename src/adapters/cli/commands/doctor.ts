import type { Command } from 'commander';
import { visible } from '../../../domain/visible.ts';
import { CommandError, withoutSecrets } from '../errors.ts';
import { contentsText, counted, number } from '../format.ts';
import type { CommandOptions, DoctorReport } from '../options.ts';

/** The command fails if a problem is an error. */
export function defineDoctor(program: Command, options: CommandOptions): void {
  const { console, version, diagnose } = options;
  program
    .command('doctor')
    .description('examine the settings and the store, and change nothing')
    .option('--backup <file>', 'also check a backup of the store')
    .option('--json', 'print the report as JSON')
    .action(async ({ backup, json }) => {
      const found = await diagnose(options.databaseUrl, backup);
      const problems = found.problems.map((each) => ({ ...each, message: withoutSecrets(each.message) }));
      const report = { ...found, problems };
      await console.out(`${json ? jsonOf(report, version) : linesOf(report, version).join('\n')}\n`);
      const errors = problems.filter(({ severity }) => severity === 'error').length;
      if (errors > 0) throw new CommandError(`${counted(errors, 'error')} found`);
    });
}

function linesOf(report: DoctorReport, version: string): string[] {
  const { node, settings, source, database, backup, problems } = report;
  const { exists, schemaVersion, supportedSchemaVersion, isSound, bytes, pets, apiKeys, freeBytes } =
    database ?? {};
  const count = (value: number | undefined, unit = '') =>
    value === undefined ? undefined : `${number(value)}${unit}`;
  const own = `this release writes ${supportedSchemaVersion}`;
  const facts = [
    ['version', `${version}, Node.js ${node.slice(1)}`],
    ...settings.map(({ name, value }) => ['setting', `${name}=${value}`]),
    ['store', database?.location],
    ['selected by', source],
    ['exists', database && (exists === undefined ? 'unknown' : exists ? 'yes' : 'no')],
    ['schema', supportedSchemaVersion === undefined ? undefined : `${schemaVersion ?? '-'}, ${own}`],
    ['integrity', isSound === undefined ? undefined : isSound ? 'ok' : 'damaged'],
    ['size', count(bytes, ' bytes')],
    ['pets', count(pets)],
    ['keys', apiKeys && `${number(apiKeys.total)}, of which ${number(apiKeys.active)} active`],
    ['records', count(database?.idempotencyRecords, ' of idempotency keys')],
    ['backup', backup && `${backup.file} is sound: ${contentsText(backup)}`],
    ['free disk', count(freeBytes, ' bytes')],
  ];
  const lineOf = ([name = '', value]: readonly (string | undefined)[]) =>
    value === undefined ? [] : `${name.padEnd(12)} ${visible(value)}`;
  const found = problems.flatMap(({ severity, message }) => lineOf([severity, message]));
  return [...facts.flatMap(lineOf), '', ...(found.length > 0 ? found : ['No problem was found.'])];
}

function jsonOf({ source, scheme, database, backup, ...report }: DoctorReport, version: string): string {
  const facts = database && { source, scheme, ...database, problems: undefined };
  const contents = backup && { ...backup, problems: undefined };
  const members = { version, ...report, database: facts ?? null, backup: contents ?? null };
  return JSON.stringify(members, (_, value) => (typeof value === 'bigint' ? String(value) : value), 2);
}
