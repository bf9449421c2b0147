import { statSync } from 'node:fs';
import type { Command } from 'commander';
import type { BackupContents } from '../../../application/ports/maintenance.ts';
import { visible } from '../../../domain/visible.ts';
import { JSON_RESULT, regularFile } from '../arguments.ts';
import { printResult } from '../console.ts';
import { CommandError } from '../errors.ts';
import { contentsText, duration, number } from '../format.ts';
import type { CommandOptions } from '../options.ts';
import { withProgress } from '../progress.ts';
import { withStore } from '../store.ts';

export function defineBackup(program: Command, options: CommandOptions): void {
  program
    .command('backup')
    .description('copy the whole store, with its keys, into a file while it is in use')
    .argument('<file>', 'the file to create, which gets its name when it is complete', regularFile)
    .option('--force', 'replace an existing file')
    .option('--verify', 'check the whole copy, and compare it with the store, before it gets its name')
    .option(...JSON_RESULT)
    .action(async (file, { force, verify, json }) => {
      const { console, signal } = options;
      let contents: BackupContents | undefined;
      const onVerified = (found: BackupContents): void => {
        contents = found;
      };
      const [, elapsed] = await withProgress(options, 'nothing was backed up', (progress) => {
        const onProgress = (share: number) => progress.show('Copying', undefined, share);
        const how = { overwrite: force, onProgress, signal, ...(verify && { onVerified }) };
        return withStore(options, 'backup', (store) => store.backup(file, how));
      });
      const { size: bytes } = statSync(file);
      const { pets, apiKeys, lastId, problems = [] }: Partial<BackupContents> = contents ?? {};
      const found = contents && `, verified: ${contentsText(contents)}, as in the store`;
      const verified = contents && { verified: problems.length === 0, pets, apiKeys, lastId: String(lastId) };
      const result = {
        done: `backed up to ${file}`,
        details: `: ${number(bytes)} bytes in ${duration(elapsed)}${found ?? ''}`,
        members: { file, bytes, milliseconds: Math.round(elapsed), ...verified },
      };
      await printResult(console, result, json);
      for (const { severity, message } of problems) console.err(`${severity}: ${visible(message)}\n`);
      if (problems.length > 0) {
        const advice = 'does not count as verified: correct these pets in the store';
        throw new CommandError(`the backup is a true copy, but ${advice}`);
      }
    });
}
