/**
 * Creates and rotates API keys. A new key is printed once, to standard output. The attributes of a new key are printed
 * to standard error, and with `--json` also to standard output.
 */

import type { IssuedApiKey } from '../../../../application/api-keys.ts';
import { CommandError } from '../../errors.ts';
import type { CommandOptions, JsonFlag } from '../../options.ts';
import { isNullDevice } from '../../output/console.ts';
import { moment } from '../../output/format.ts';
import { visible } from '../../output/visible.ts';
import { withStore } from '../store.ts';
import { attributesOf } from './attributes.ts';
import { parseDuration, parseExpiry } from './times.ts';

interface IssueFlags extends JsonFlag {
  readonly expires?: string;
}

export interface CreateFlags extends IssueFlags {
  readonly name: string;
  readonly createStore?: boolean;
}

export interface RotateFlags extends IssueFlags {
  readonly overlap: string;
}

export async function createKey(flags: CreateFlags, options: CommandOptions): Promise<void> {
  const expiresAt = expiryOf(flags) ?? undefined;
  refuseDiscardedOutput(options);
  const { name, createStore = false } = flags;
  const issued = await withStore(options, 'keys', ({ apiKeys }) => apiKeys.create(name, expiresAt), {
    createStore,
  });
  await showKey(issued, flags, options);
}

export async function rotateKey(id: string, flags: RotateFlags, options: CommandOptions): Promise<void> {
  const expiresAt = expiryOf(flags);
  const overlap = parseDuration(flags.overlap, '--overlap');
  refuseDiscardedOutput(options);
  const [issued, old] = await withStore(options, 'keys', async ({ apiKeys }) => {
    const issued = await apiKeys.rotate(id, overlap, expiresAt);
    return [issued, (await apiKeys.list()).find((key) => key.id === id)] as const;
  });
  const end = old?.expiresAt ?? issued.about.createdAt + overlap;
  const when = end <= Date.now() ? 'now' : moment(end);
  await showKey(issued, flags, options, ` Key ${id} expires ${when}.`);
}

function expiryOf({ expires }: IssueFlags): number | null | undefined {
  return expires === undefined ? undefined : parseExpiry(expires, '--expires', Date.now());
}

/** Throws, before a key is created, if nobody could read the key. */
function refuseDiscardedOutput({ console }: CommandOptions): void {
  if (!isNullDevice(console.outDescriptor)) return;
  throw new CommandError(
    'standard output is closed or the null device, so the new key would be lost: redirect it to a file or a pipe',
  );
}

/** @param outcome what else the command has done */
async function showKey(
  { key, about }: IssuedApiKey,
  { json }: JsonFlag,
  { console }: CommandOptions,
  outcome = '',
): Promise<void> {
  const { id, name, expiresAt } = about;
  const text = json ? JSON.stringify({ ...attributesOf(about), key }) : key;
  await console.out(`${text}\n`).catch((error: Error) => {
    const revoke = `animal-store keys revoke ${id}`;
    throw new CommandError(`key ${id} was created but is lost: ${error.message}. Revoke it: ${revoke}`);
  });
  const expires = expiresAt === undefined ? 'never' : moment(expiresAt);
  const attributes = `  id       ${id}\n  name     ${visible(name)}\n  expires  ${expires}\n`;
  console.err(`Key created. Save it: it is not shown again.${outcome}\n${attributes}`);
}
