import { statSync } from 'node:fs';
import type { Command } from 'commander';
import type { BackupContents } from '../../../application/ports/maintenance.ts';
import { visible } from '../../../domain/visible.ts';
import { file, JSON_RESULT } from '../arguments.ts';
import { printResult } from '../console.ts';
import { CommandError, ignoreBrokenPipe } from '../errors.ts';
import { contentsText, number } from '../format.ts';
import type { CommandOptions } from '../options.ts';
import { READING, withStore } from '../store.ts';

export function defineBackup(program: Command, options: CommandOptions): void {
  program
    .command('backup')
    .description('copy the whole store, with its keys, into a file while it is in use')
    .argument('<file>', 'the file to create, which gets its name when it is complete', file)
    .option('--force', 'replace an existing file')
    .option('--verify', 'check the whole copy, and compare it with the store, before it gets its name')
    .option(...JSON_RESULT)
    .action(async (file, { force, verify, json }) => {
      const { console, signal } = options;
      const verified: BackupContents[] = [];
      const onVerified = verify && ((contents: BackupContents) => void verified.push(contents));
      const onProgress = (share: number) => console.progress('Copying', share);
      const how = { overwrite: force, onProgress, onVerified, signal };
      await withStore(options, 'backup', READING, (store) => store.backup(file, how));
      const [contents] = verified;
      const { size: bytes } = statSync(file);
      const { pets, apiKeys, lastId, problems = [] }: Partial<BackupContents> = contents ?? {};
      const found = contents ? `, verified: ${contentsText(contents)}, as in the store` : '';
      const facts = contents && { verified: problems.length === 0, pets, apiKeys, lastId: String(lastId) };
      const text = `Backed up to ${file}: ${number(bytes)} bytes${found}.`;
      for (const { severity, message } of problems) console.err(`${severity}: ${visible(message)}\n`);
      await printResult(console, text, { file, bytes, ...facts }, json).catch(ignoreBrokenPipe);
      if (problems.length > 0) {
        const advice = 'does not count as verified: correct these pets in the store';
        throw new CommandError(`the backup is a true copy, but ${advice}`);
      }
    });
}
