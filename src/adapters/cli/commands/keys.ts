import type { IssuedApiKey } from '../../../application/api-keys.ts';
import { type ApiKey, apiKeyStatus } from '../../../domain/api-key.ts';
import { visible } from '../../../domain/visible.ts';
import { commandLine } from '../command-line.ts';
import { CommandError } from '../errors.ts';
import type { CommandOptions, JsonFlag } from '../options.ts';
import { type Console, isNullDevice, printResult } from '../output/console.ts';
import { day, lastDay, moment } from '../output/format.ts';
import { type Row, table } from '../output/table.ts';
import { withStore } from './store.ts';
import { parseDuration, parseExpiry } from './times.ts';

interface IssueFlags extends JsonFlag {
  readonly expires?: string;
}

const HEAD = ['ID', 'NAME', 'PREFIX', 'STATUS', 'CREATED', 'LAST USED'];

export async function createKey(
  flags: IssueFlags & { readonly name: string; readonly createStore?: boolean; readonly readOnly?: boolean },
  options: CommandOptions,
): Promise<void> {
  const expiresAt = expiryOf(flags) ?? undefined;
  refuseDiscardedOutput(options.console);
  const { name, createStore = false, readOnly = false } = flags;
  const issued = await withStore(
    options,
    'keys',
    ({ apiKeys }) => apiKeys.create(name, expiresAt, readOnly),
    createStore,
  );
  await showKey(issued, flags, options);
}

export async function rotateKey(
  id: string,
  flags: IssueFlags & { readonly overlap: string },
  options: CommandOptions,
): Promise<void> {
  const expiresAt = expiryOf(flags);
  const overlap = parseDuration(flags.overlap, '--overlap');
  refuseDiscardedOutput(options.console);
  const [issued, old] = await withStore(options, 'keys', async ({ apiKeys }) => {
    const issued = await apiKeys.rotate(id, overlap, expiresAt);
    return [issued, (await apiKeys.list()).find((key) => key.id === id)] as const;
  });
  const end = old?.expiresAt ?? issued.about.createdAt + overlap;
  const when = end <= Date.now() ? 'now' : moment(end);
  await showKey(issued, flags, options, ` Key ${id} expires ${when}.`);
}

export async function revokeKey(id: string, { json }: JsonFlag, options: CommandOptions): Promise<void> {
  const key = await withStore(options, 'keys', ({ apiKeys }) => apiKeys.revoke(id));
  const done = `key ${key.id} (${key.name}) is revoked`;
  await printResult(options.console, { done, members: attributesOf(key) }, json);
}

export async function listKeys(
  { active, json }: JsonFlag & { readonly active?: boolean },
  options: CommandOptions,
): Promise<void> {
  const { console } = options;
  const now = Date.now();
  const all = await withStore(options, 'keys', ({ apiKeys }) => apiKeys.list());
  const keys = active ? all.filter((key) => apiKeyStatus(key, now) === 'active') : all;
  if (json) {
    await console.out(`${JSON.stringify(keys.map(attributesOf), null, 2)}\n`);
  } else if (keys.length > 0) {
    const rows = keys.map((key) => rowOf(key, now));
    await console.outRaw(table(HEAD, rows, console.outScreen));
  } else {
    const kind = all.length > 0 ? 'active key' : 'key yet';
    console.err(`There is no ${kind}. Create one: ${commandOf('keys create --name NAME', options)}\n`);
  }
}

function expiryOf({ expires }: IssueFlags): number | null | undefined {
  return expires === undefined ? undefined : parseExpiry(expires, '--expires', Date.now());
}

/** Throws, before a key is created, if nobody could read the key. */
function refuseDiscardedOutput({ outDescriptor }: Console): void {
  if (!isNullDevice(outDescriptor)) return;
  throw new CommandError(
    'standard output is closed or the null device, so the new key would be lost: redirect it to a file or a pipe',
  );
}

/** Prints a new key once to standard output, and its attributes, with what else was done, to standard error. */
async function showKey(
  { key, about }: IssuedApiKey,
  { json }: JsonFlag,
  options: CommandOptions,
  outcome = '',
): Promise<void> {
  const { id, name, expiresAt, isReadOnly } = about;
  const text = json ? JSON.stringify({ ...attributesOf(about), key }) : key;
  const { console } = options;
  await console.out(`${text}\n`).catch((error: Error) => {
    const revoke = commandOf(`keys revoke ${id}`, options);
    throw new CommandError(`key ${id} was created but is lost: ${error.message}. Revoke it: ${revoke}`);
  });
  const expires = expiresAt === undefined ? 'never' : moment(expiresAt);
  const access = isReadOnly ? '  access   read-only\n' : '';
  const attributes = `  id       ${id}\n  name     ${visible(name)}\n${access}  expires  ${expires}\n`;
  console.err(`Key created. Save it: it is not shown again.${outcome}\n${attributes}`);
}

function commandOf(command: string, { program, databaseUrl }: CommandOptions): string {
  return commandLine(program, command, databaseUrl);
}

function attributesOf(key: ApiKey): object {
  const { id, name, prefix, createdAt, lastUsedOn, expiresAt, revokedAt, isReadOnly = false } = key;
  const timestamp = (time?: number) => (time === undefined ? null : new Date(time).toISOString());
  return {
    id,
    name,
    prefix,
    readOnly: isReadOnly,
    status: apiKeyStatus(key, Date.now()),
    createdAt: timestamp(createdAt),
    lastUsedOn: lastUsedOn === undefined ? null : day(lastUsedOn),
    expiresAt: timestamp(expiresAt),
    revokedAt: timestamp(revokedAt),
  };
}

function rowOf(key: ApiKey, now: number): Row {
  const { id, name, prefix, createdAt, lastUsedOn, isReadOnly } = key;
  const used = lastUsedOn === undefined ? '-' : day(lastUsedOn);
  return {
    cells: [id, name, prefix, statusOf(key, now) + (isReadOnly ? ', read-only' : ''), day(createdAt), used],
    isInactive: apiKeyStatus(key, now) !== 'active',
  };
}

function statusOf(key: ApiKey, now: number): string {
  const status = apiKeyStatus(key, now);
  if (status === 'revoked') return `revoked on ${day(key.revokedAt ?? now)}`;
  if (key.expiresAt === undefined) return status;
  return `${status === 'active' ? 'ends' : status} on ${lastDay(key.expiresAt)}`;
}
