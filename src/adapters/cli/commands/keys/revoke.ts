import type { CommandOptions, JsonFlag } from '../../options.ts';
import { printResult } from '../../output/result.ts';
import { withStore } from '../store.ts';
import { attributesOf } from './attributes.ts';

export async function revokeKey(id: string, { json }: JsonFlag, options: CommandOptions): Promise<void> {
  const key = await withStore(options, 'keys', ({ apiKeys }) => apiKeys.revoke(id));
  const done = `key ${key.id} (${key.name}) is revoked`;
  await printResult(options.console, { done, members: attributesOf(key) }, json);
}
