/**
 * Creates, lists, rotates and revokes API keys. A new key is printed once, to standard output. The attributes of a new
 * key are printed to standard error, and with `--json` also to standard output.
 */

import type { AnimalStore } from '../../application/animal-store.ts';
import type { ApiKeys, IssuedApiKey } from '../../application/api-keys.ts';
import { type ApiKey, apiKeyStatus } from '../../domain/api-key.ts';
import type { Console } from './console.ts';
import { CommandError } from './errors.ts';
import { openOrCreateStore } from './open-store.ts';
import type { CliOptions } from './options.ts';
import { printResult } from './result.ts';
import { table } from './table.ts';
import { day, lastDay, moment, parseDuration, parseExpiry } from './times.ts';
import { visible } from './visible.ts';

export interface CreateFlags {
  readonly name: string;
  readonly expires?: string;
  readonly createStore?: boolean;
  readonly json?: boolean;
}

export interface ListFlags {
  readonly active?: boolean;
  readonly json?: boolean;
}

export interface RotateFlags {
  readonly overlap: string;
  readonly expires?: string;
  readonly json?: boolean;
}

export interface JsonFlag {
  readonly json?: boolean;
}

/** The index of the column NAME. Names are truncated if the terminal is too narrow for the table. */
const NAME_COLUMN = 1;

export class KeyCommands {
  readonly #console: Console;
  readonly #options: Pick<CliOptions, 'openStore'>;
  readonly #databaseUrl: string | undefined;

  constructor(options: Pick<CliOptions, 'console' | 'openStore'>, databaseUrl: string | undefined) {
    this.#console = options.console;
    this.#options = options;
    this.#databaseUrl = databaseUrl;
  }

  async create({ name, expires, createStore = false, json }: CreateFlags): Promise<void> {
    const expiresAt = expiryOf(expires) ?? undefined;
    this.#refuseDiscardedOutput();
    const store = await openOrCreateStore(this.#options, this.#databaseUrl, createStore);
    const issued = await this.#withKeys((keys) => keys.create(name, expiresAt), store);
    await this.#show(issued, json, 'Key created. Save it: it is not shown again.');
  }

  async list({ active = false, json }: ListFlags): Promise<void> {
    const now = Date.now();
    const all = await this.#withKeys((keys) => keys.list());
    const keys = active ? all.filter((key) => apiKeyStatus(key, now) === 'active') : all;
    if (json) await this.#console.out(`${JSON.stringify(keys.map(fieldsOf), null, 2)}\n`);
    else if (keys.length > 0) await this.#console.outRaw(this.#tableOf(keys, now));
    else {
      const kind = all.length > 0 ? 'active key' : 'key yet';
      this.#console.err(`There is no ${kind}. Create one: animal-store keys create --name NAME\n`);
    }
  }

  async revoke(id: string, { json }: JsonFlag): Promise<void> {
    const about = await this.#withKeys((keys) => keys.revoke(id));
    const done = `key ${about.id} (${visible(about.name)}) is revoked`;
    const text = json ? JSON.stringify(fieldsOf(about)) : `K${done.slice(1)}.`;
    await printResult(this.#console, `${text}\n`, done);
  }

  async rotate(id: string, { overlap, expires, json }: RotateFlags): Promise<void> {
    const expiresAt = expiryOf(expires);
    const length = parseDuration(overlap, '--overlap');
    this.#refuseDiscardedOutput();
    const [issued, old] = await this.#withKeys(async (keys) => {
      const issued = await keys.rotate(id, length, expiresAt);
      return [issued, (await keys.list()).find((key) => key.id === id)] as const;
    });
    const end = old?.expiresAt ?? issued.about.createdAt + length;
    const when = end <= Date.now() ? 'now' : moment(end);
    await this.#show(issued, json, `Key created. Save it: it is not shown again. Key ${id} expires ${when}.`);
  }

  /** @param given the store, if it is open already */
  async #withKeys<T>(work: (keys: ApiKeys) => Promise<T>, given?: AnimalStore): Promise<T> {
    const store = given ?? (await this.#options.openStore(this.#databaseUrl, { mustExist: true }));
    try {
      return await work(store.apiKeys);
    } finally {
      await store.close();
    }
  }

  /** Throws, before a key is created, if nobody could read the key. */
  #refuseDiscardedOutput(): void {
    if (!this.#console.isOutDiscarded) return;
    throw new CommandError(
      'standard output is closed or the null device, so the new key would be lost: redirect it to a file or a pipe',
    );
  }

  async #show({ key, about }: IssuedApiKey, json: boolean | undefined, summary: string): Promise<void> {
    const { id, name, expiresAt } = about;
    try {
      await this.#console.out(json ? `${JSON.stringify({ ...fieldsOf(about), key })}\n` : `${key}\n`);
    } catch (error) {
      const revoke = `animal-store keys revoke ${id}`;
      throw new CommandError(
        `key ${id} was created but is lost: ${(error as Error).message}. Revoke it: ${revoke}`,
      );
    }
    this.#console.err(
      `${summary}\n  id       ${id}\n  name     ${visible(name)}\n  expires  ${expiresAt === undefined ? 'never' : moment(expiresAt)}\n`,
    );
  }

  #tableOf(keys: readonly ApiKey[], now: number): string {
    const rows = keys.map((key) => ({
      cells: [
        key.id,
        key.name,
        key.prefix,
        statusOf(key, now),
        day(key.createdAt),
        key.lastUsedOn === undefined ? '-' : day(key.lastUsedOn),
      ],
      isInactive: apiKeyStatus(key, now) !== 'active',
    }));
    const head = ['ID', 'NAME', 'PREFIX', 'STATUS', 'CREATED', 'LAST USED'];
    return table(head, rows, NAME_COLUMN, this.#console.outScreen);
  }
}

/** Returns the status of a key for people: `active`, `ends on`, `expired on` or `revoked on`, with the day in UTC. */
function statusOf(key: ApiKey, now: number): string {
  const status = apiKeyStatus(key, now);
  if (status === 'revoked') return `revoked on ${day(key.revokedAt ?? now)}`;
  if (key.expiresAt === undefined) return status;
  return `${status === 'active' ? 'ends' : status} on ${lastDay(key.expiresAt)}`;
}

function expiryOf(text: string | undefined): number | null | undefined {
  return text === undefined ? undefined : parseExpiry(text, '--expires', Date.now());
}

/**
 * Returns the attributes of a key as members of JSON. Dates and times have the format of RFC 3339. A missing value is
 * `null`.
 */
function fieldsOf(key: ApiKey) {
  const { id, name, prefix, createdAt, lastUsedOn, expiresAt, revokedAt } = key;
  return {
    id,
    name,
    prefix,
    status: apiKeyStatus(key, Date.now()),
    createdAt: timestamp(createdAt),
    lastUsedOn: lastUsedOn === undefined ? null : day(lastUsedOn),
    expiresAt: timestamp(expiresAt),
    revokedAt: timestamp(revokedAt),
  };
}

function timestamp(time: number | undefined): string | null {
  return time === undefined ? null : new Date(time).toISOString();
}
