/** Creates, verifies and revokes API keys of several stores, and records the calls. */

import type { History, KeyOperations } from './history.ts';

/**
 * Creates and revokes API keys that the stores share, while every store verifies them, and records the calls in
 * `history`.
 *
 * @param rounds the number of keys that each store creates
 */
export async function exerciseKeys(
  history: History,
  stores: readonly KeyOperations[],
  rounds = 3,
): Promise<void> {
  const recorded = stores.map((store, index) => history.recordKeys(store, `store ${index + 1}`));
  const verifyEverywhere = async (key: string): Promise<void> => {
    await Promise.all(recorded.map((store) => store.verifyApiKey(key)));
  };
  await Promise.all(
    recorded.map(async (store, index) => {
      for (let round = 0; round < rounds; round += 1) {
        const { key, about } = await store.apiKeys.create(`key ${index + 1}.${round + 1}`);
        await verifyEverywhere(key);
        await Promise.all([store.apiKeys.revoke(about.id), verifyEverywhere(key)]);
        await verifyEverywhere(key);
      }
    }),
  );
}
