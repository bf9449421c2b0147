import type { Command } from 'commander';
import { untilAborted } from '../../../application/until-aborted.ts';
import { visible } from '../../../domain/visible.ts';
import { file, JSON_RESULT } from '../arguments.ts';
import { CommandError, ignoreBrokenPipe, withoutSecrets } from '../errors.ts';
import { counted } from '../format.ts';
import type { CommandOptions, DoctorReport } from '../options.ts';

/** Defines the command `doctor`, which fails if it finds a problem with the severity `error`. */
export function defineDoctor(program: Command, options: CommandOptions): void {
  const { console, version, diagnose, signal } = options;
  program
    .command('doctor')
    .description('examine the settings and the store, and change nothing')
    .option('--backup <file>', 'also check a backup of the store', file)
    .option(...JSON_RESULT)
    .action(async ({ backup, json }) => {
      const found = await untilAborted(diagnose(options.databaseUrl, backup), signal);
      const problems = found.problems.map((each) => ({ ...each, message: withoutSecrets(each.message) }));
      const report = { version, ...found, problems };
      const integersAsText = (_: string, value: unknown) =>
        typeof value === 'bigint' ? String(value) : value;
      const shown = json ? `${JSON.stringify(report, integersAsText, 2)}\n` : textOf(report);
      await console.out(shown).catch(ignoreBrokenPipe);
      const errors = problems.filter(({ severity }) => severity === 'error').length;
      if (errors > 0) throw new CommandError(`${counted(errors, 'error')} found`);
    });
}

function textOf({ problems, settings, ...facts }: DoctorReport): string {
  const set = Object.fromEntries(settings.map(({ name, value }) => [name, value]));
  const found = problems.map(({ severity, message }) => `${severity}: ${message}`);
  const conclusion = found.length > 0 ? found : ['No problem was found.'];
  const lines = [...linesOf({ ...facts, settings: set }), '', ...conclusion];
  return lines.map((line) => `${visible(line)}\n`).join('');
}

/** Returns a line for each member that has a value, including the members of nested objects. */
function linesOf(members: object, prefix = ''): string[] {
  return Object.entries(members).flatMap(([name, value]) => {
    if (Object(value) === value) return linesOf(value, `${prefix}${name}.`);
    return value === undefined || value === null ? [] : `${(prefix + name).padEnd(32)} ${value}`;
  });
}
