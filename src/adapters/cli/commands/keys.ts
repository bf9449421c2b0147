import type { Command } from 'commander';
import type { AnimalStore } from '../../../application/animal-store.ts';
import type { IssuedApiKey } from '../../../application/api-keys.ts';
import { type ApiKey, apiKeyStatus } from '../../../domain/api-key.ts';
import { visible } from '../../../domain/visible.ts';
import { CREATE_STORE, durationOf, expiry, JSON_RESULT, keyId, keyName } from '../arguments.ts';
import { printResult } from '../console.ts';
import { CommandError } from '../errors.ts';
import { day, moment, table } from '../format.ts';
import type { CommandOptions } from '../options.ts';
import { READING, withStore } from '../store.ts';

const EXPIRES = '--expires <when>';
const HEAD = ['ID', 'NAME', 'PREFIX', 'STATUS', 'ENDS', 'CREATED', 'LAST USED'];

/** Defines the commands `keys create`, `keys list`, `keys rotate` and `keys revoke`. */
export function defineKeys(program: Command, options: CommandOptions): void {
  const keys = program.command('keys').description('create, list, rotate and revoke API keys');
  keys
    .command('create')
    .description('create a key, and show it once')
    .requiredOption('--name <name>', 'the name of the key holder', keyName)
    .option(EXPIRES, 'a duration such as 90d, 12h or 30m, a date such as 2027-01-31, or never', expiry)
    .option('--read-only', 'the key may only list and read pets')
    .option(...CREATE_STORE)
    .option(...JSON_RESULT)
    .action(async ({ name, expires, readOnly, createStore = false, json }) => {
      const end = expires === 'never' ? undefined : expires;
      await issueKey(({ apiKeys }) => apiKeys.create(name, end, readOnly), json, options, createStore);
    });
  keys
    .command('list')
    .description('list all keys with their attributes, but without the keys')
    .option('--active', 'only keys that are neither expired nor revoked')
    .option(...JSON_RESULT)
    .action(({ active, json }) => listKeys(active, json, options));
  keys
    .command('rotate')
    .description('create a key that replaces an old one, which expires later')
    .argument('<id>', 'the id of the old key, see keys list', keyId)
    .option(
      '--overlap <time>',
      'how long the old key stays valid, such as 12h or 0 (default: 7d)',
      durationOf,
    )
    .option(EXPIRES, 'the expiry of the new key, or never (default: the lifetime of the old key)', expiry)
    .option(...JSON_RESULT)
    .action(async (id, { overlap = durationOf('7d'), expires, json }) => {
      const end = expires === 'never' ? null : expires;
      let oldEnd = Number.POSITIVE_INFINITY;
      const rotate = async ({ apiKeys }: AnimalStore) => {
        oldEnd = (await apiKeys.list()).find((key) => key.id === id)?.expiresAt ?? oldEnd;
        return await apiKeys.rotate(id, overlap, end);
      };
      const oldKey = () => `expires by ${moment(Math.min(oldEnd, Date.now() + overlap))}`;
      const ifLost = () =>
        overlap > 0
          ? `; key ${id} still ${oldKey()}: rotate it again`
          : `; key ${id} is expired: create a new key`;
      await issueKey(rotate, json, options, undefined, ifLost);
      options.console.err(`Key ${id} ${oldKey()}.\n`);
    });
  keys
    .command('revoke')
    .description('revoke a key: every server refuses it within 1 s')
    .argument('<id>', 'the id of the key, see keys list', keyId)
    .option(...JSON_RESULT)
    .action(async (id, { json }) => {
      const key = await withStore(options, 'keys', {}, ({ apiKeys }) => apiKeys.revoke(id));
      await printResult(options.console, `Key ${id} (${key.name}) is revoked.`, attributesOf(key), json);
    });
}

/** Creates a key with `issue`, and prints it once to standard output. Standard error gets a sentence about the key. */
async function issueKey(
  issue: (store: AnimalStore) => Promise<IssuedApiKey>,
  json: boolean,
  options: CommandOptions,
  createStore?: boolean,
  ifLost = () => '',
): Promise<void> {
  const { console } = options;
  if (console.isDiscarded)
    throw new CommandError('standard output is closed or the null device, so the new key would be lost');
  const { key, about } = await withStore(options, 'keys', { createStore }, issue);
  const { id, name, expiresAt, isReadOnly } = about;
  const text = json ? JSON.stringify({ ...attributesOf(about), key }) : key;
  await console.out(`${text}\n`).catch((error: Error) => {
    throw new CommandError(
      `key ${id} was created but is lost: ${error.message}; revoke it: animal-store keys revoke ${id}, with the same settings${ifLost()}`,
    );
  });
  const expires = expiresAt === undefined ? 'never expires' : `expires at ${moment(expiresAt)}`;
  const access = isReadOnly ? ', read-only' : '';
  console.err(`Key ${id} (${visible(name)}${access}) ${expires}. Save it: it is not shown again.\n`);
}

async function listKeys(active: boolean, json: boolean, options: CommandOptions): Promise<void> {
  const { console } = options;
  const now = Date.now();
  const all = await withStore(options, 'keys', READING, ({ apiKeys }) => apiKeys.list());
  const keys = active ? all.filter((key) => apiKeyStatus(key, now) === 'active') : all;
  if (json) await console.outData(`${JSON.stringify(keys.map(attributesOf), null, 2)}\n`);
  else if (keys.length > 0) await console.outData(table([HEAD, ...keys.map((key) => rowOf(key, now))]));
  else console.err(`There is no ${active ? 'active key' : 'key'}.\n`);
}

function attributesOf(key: ApiKey): object {
  const { id, name, prefix, createdAt, lastUsedOn, expiresAt, revokedAt, isReadOnly = false } = key;
  const timestamp = (time?: number) => (time === undefined ? null : new Date(time).toISOString());
  return {
    ...{ id, name, prefix, readOnly: isReadOnly, status: apiKeyStatus(key, Date.now()) },
    createdAt: timestamp(createdAt),
    lastUsedOn: lastUsedOn === undefined ? null : day(lastUsedOn),
    ...{ expiresAt: timestamp(expiresAt), revokedAt: timestamp(revokedAt) },
  };
}

function rowOf(key: ApiKey, now: number): string[] {
  const { id, name, prefix, createdAt, lastUsedOn, isReadOnly, revokedAt, expiresAt } = key;
  const status = apiKeyStatus(key, now) + (isReadOnly ? ', read-only' : '');
  const end = revokedAt ?? expiresAt;
  const [ends, lastUsed] = [end ? moment(end) : '-', lastUsedOn ? day(lastUsedOn) : '-'];
  return [id, name, prefix, status, ends, day(createdAt), lastUsed];
}
