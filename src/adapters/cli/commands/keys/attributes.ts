import { type ApiKey, apiKeyStatus } from '../../../../domain/api-key.ts';
import { day } from '../../output/format.ts';

/**
 * Returns the attributes of a key as members of JSON. Dates and times have the format of RFC 3339. A missing value is
 * `null`.
 */
export function attributesOf(key: ApiKey): object {
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
