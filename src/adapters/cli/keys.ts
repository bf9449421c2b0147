/** Issues, lists and ends API keys. A key is shown once, on standard output; what is known of it on standard error. */

import { ApiKeys, type IssuedApiKey } from '../../application/api-keys.ts';
import { type ApiKey, isActive } from '../../domain/api-key.ts';
import type { Console } from './console.ts';
import { CommandError } from './errors.ts';
import type { OpenStorage } from './options.ts';
import { printResult } from './result.ts';
import { table } from './table.ts';
import { day, lastDay, moment, parseDuration, parseExpiry } from './times.ts';
import { visible } from './visible.ts';

export interface CreateFlags {
  readonly name: string;
  readonly expires?: string;
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

/** Column of the names, which are cut where the screen is narrow. */
const NAME = 1;

export class KeyCommands {
  readonly #console: Console;
  readonly #openStorage: OpenStorage;
  readonly #databaseUrl: string | undefined;

  constructor(console: Console, openStorage: OpenStorage, databaseUrl: string | undefined) {
    this.#console = console;
    this.#openStorage = openStorage;
    this.#databaseUrl = databaseUrl;
  }

  async create({ name, expires, json }: CreateFlags): Promise<void> {
    const expiresAt = expiryOf(expires);
    const issued = await this.#withKeys(false, (keys) => keys.create(name, expiresAt));
    await this.#show(issued, json, 'Key made. Keep it: it is not shown again.');
  }

  async list({ json }: JsonFlag): Promise<void> {
    const keys = await this.#withKeys(true, (keys) => keys.list());
    if (json) await this.#console.out(`${JSON.stringify(keys.map(fieldsOf), null, 2)}\n`);
    else if (keys.length > 0) await this.#console.outRaw(this.#tableOf(keys));
    else this.#console.err('There is no key yet: animal-store keys create --name NAME\n');
  }

  async revoke(id: string, { json }: JsonFlag): Promise<void> {
    const about = await this.#withKeys(true, (keys) => keys.revoke(id));
    const done = `key ${about.id} (${visible(about.name)}) is revoked`;
    const text = json ? JSON.stringify(fieldsOf(about)) : `K${done.slice(1)}.`;
    await printResult(this.#console, `${text}\n`, done);
  }

  async rotate(id: string, { overlap, expires, json }: RotateFlags): Promise<void> {
    const expiresAt = expiryOf(expires);
    const length = parseDuration(overlap, '--overlap');
    const [issued, old] = await this.#withKeys(true, async (keys) => {
      const issued = await keys.rotate(id, length, expiresAt);
      return [issued, (await keys.list()).find((key) => key.id === id)] as const;
    });
    const end = old?.expiresAt ?? issued.about.createdAt + length;
    const when = end <= Date.now() ? 'now' : moment(end);
    await this.#show(issued, json, `Key made. Keep it: it is not shown again. Key ${id} ends ${when}.`);
  }

  async #withKeys<T>(mustExist: boolean, work: (keys: ApiKeys) => Promise<T>): Promise<T> {
    const storage = await this.#openStorage(this.#databaseUrl, { mustExist });
    try {
      return await work(new ApiKeys(storage.apiKeys));
    } finally {
      await storage.close();
    }
  }

  async #show({ key, about }: IssuedApiKey, json: boolean | undefined, words: string): Promise<void> {
    const { id, name, expiresAt } = about;
    try {
      await this.#console.out(json ? `${JSON.stringify({ ...fieldsOf(about), key })}\n` : `${key}\n`);
    } catch (error) {
      const { message } = error as Error;
      throw new CommandError(`key ${id} was made but could not be shown, so revoke it: ${message}`);
    }
    this.#console.err(
      `${words}\n  id       ${id}\n  name     ${visible(name)}\n  expires  ${expiresAt === undefined ? 'never' : moment(expiresAt)}\n`,
    );
  }

  #tableOf(keys: readonly ApiKey[]): string {
    const now = Date.now();
    const rows = keys.map((key) => ({
      cells: [
        key.id,
        key.name,
        key.hint,
        day(key.createdAt),
        key.lastUsedOn === undefined ? '-' : day(key.lastUsedOn),
        key.expiresAt === undefined ? '-' : lastDay(key.expiresAt),
        key.revokedAt === undefined ? '-' : day(key.revokedAt),
      ],
      isOver: !isActive(key, now),
    }));
    const head = ['ID', 'NAME', 'KEY', 'MADE', 'LAST USED', 'EXPIRES', 'REVOKED'];
    return table(head, rows, NAME, this.#console.outScreen);
  }
}

function expiryOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : parseExpiry(text, '--expires', Date.now());
}

/** What a script gets: times as RFC 3339, `null` for what there is not. */
function fieldsOf({ id, name, hint, createdAt, lastUsedOn, expiresAt, revokedAt }: ApiKey) {
  return {
    id,
    name,
    hint,
    createdAt: timestamp(createdAt),
    lastUsedOn: lastUsedOn === undefined ? null : day(lastUsedOn),
    expiresAt: timestamp(expiresAt),
    revokedAt: timestamp(revokedAt),
  };
}

function timestamp(time: number | undefined): string | null {
  return time === undefined ? null : new Date(time).toISOString();
}
