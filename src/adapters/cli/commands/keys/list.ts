import { type ApiKey, apiKeyStatus } from '../../../../domain/api-key.ts';
import type { CommandOptions, JsonFlag } from '../../options.ts';
import { day, lastDay } from '../../output/format.ts';
import { type Row, table } from '../../output/table.ts';
import { withStore } from '../store.ts';
import { attributesOf } from './attributes.ts';

export interface ListFlags extends JsonFlag {
  readonly active?: boolean;
}

const HEAD = ['ID', 'NAME', 'PREFIX', 'STATUS', 'CREATED', 'LAST USED'];

export async function listKeys({ active, json }: ListFlags, options: CommandOptions): Promise<void> {
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
    console.err(`There is no ${kind}. Create one: animal-store keys create --name NAME\n`);
  }
}

function rowOf(key: ApiKey, now: number): Row {
  const { id, name, prefix, createdAt, lastUsedOn } = key;
  const used = lastUsedOn === undefined ? '-' : day(lastUsedOn);
  return {
    cells: [id, name, prefix, statusOf(key, now), day(createdAt), used],
    isInactive: apiKeyStatus(key, now) !== 'active',
  };
}

/** Returns the status of a key for people: `active`, `ends on`, `expired on` or `revoked on`, with the day in UTC. */
function statusOf(key: ApiKey, now: number): string {
  const status = apiKeyStatus(key, now);
  if (status === 'revoked') return `revoked on ${day(key.revokedAt ?? now)}`;
  if (key.expiresAt === undefined) return status;
  return `${status === 'active' ? 'ends' : status} on ${lastDay(key.expiresAt)}`;
}
