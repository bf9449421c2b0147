import type { Command } from 'commander';
import { visible } from '../../../domain/visible.ts';
import { regularFile } from '../arguments.ts';
import { CommandError, withoutSecrets } from '../errors.ts';
import { contentsText, counted, number } from '../format.ts';
import type { CommandOptions, DoctorReport } from '../options.ts';

/** The command fails if a problem is an error. */
export function defineDoctor(program: Command, options: CommandOptions): void {
  const { console, version, diagnose } = options;
  program
    .command('doctor')
    .description('examine the settings and the store, and change nothing')
    .option('--backup <file>', 'also check a backup of the store', regularFile)
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
  const { exists = 'unknown', schemaVersion = '-', supportedSchemaVersion, isSound } = database ?? {};
  const { bytes, pets, apiKeys, idempotencyRecords, freeBytes } = database ?? {};
  const facts = [
    ['version', `${version}, Node.js ${node.replace('v', '')}`],
    ...settings.map(({ name, value }) => ['setting', `${name}=${value}`]),
    ['store', database?.location],
    ['selected by', source],
    ['exists', database && String(exists).replace('true', 'yes').replace('false', 'no')],
    ['schema', shown(supportedSchemaVersion, (own) => `${schemaVersion}, this release writes ${own}`)],
    ['integrity', shown(isSound, (sound) => (sound ? 'ok' : 'damaged'))],
    ['size', shown(bytes, (count) => `${number(count)} bytes`)],
    ['pets', shown(pets, number)],
    ['keys', shown(apiKeys, ({ total, active }) => `${number(total)}, of which ${number(active)} active`)],
    ['records', shown(idempotencyRecords, (count) => `${number(count)} of idempotency keys`)],
    ['backup', backup && `${backup.file} is sound: ${contentsText(backup)}`],
    ['free disk', shown(freeBytes, (count) => `${number(count)} bytes`)],
  ] as const;
  const lineOf = (name = '', value = '') => `${name.padEnd(12)} ${visible(value)}`;
  const known = facts.flatMap(([name, value]) => shown(value, (text) => lineOf(name, text)) ?? []);
  const found = problems.map(({ severity, message }) => lineOf(severity, message));
  return [...known, '', ...(found.length > 0 ? found : ['No problem was found.'])];
}

function shown<T>(fact: T | undefined, format: (fact: T) => string): string | undefined {
  return fact === undefined ? undefined : format(fact);
}

/** Returns the report as JSON. A missing value is `null`. */
function jsonOf({ source, scheme, database, backup, ...report }: DoctorReport, version: string): string {
  const facts = database && { source, scheme, ...database, problems: undefined };
  const contents = backup && { ...backup, problems: undefined };
  const members = { version, ...report, database: facts ?? null, backup: contents ?? null };
  return JSON.stringify(members, (_, value) => (typeof value === 'bigint' ? String(value) : value), 2);
}
