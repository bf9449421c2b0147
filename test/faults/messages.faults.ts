/** Sends generated messages, each on its own connection. The server must follow its API for every message. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BROKEN_PROMISE } from '../support/retry.ts';
import { Campaign } from './campaign.ts';
import { exportOf } from './commands.ts';
import { FAMILIES, generateMessage, type Message } from './messages/message.ts';
import { hasNginx, startNginx } from './nginx.ts';
import { MESSAGES, ONLY, SEED } from './options.ts';
import { printTable } from './table.ts';

const TIMEOUT = { timeout: 120_000 + MESSAGES * 60 };

describe(`${MESSAGES} messages of seed ${SEED}`, TIMEOUT, () => {
  let campaign: Campaign;
  let refused = 0;
  const rows: (string | number)[][] = [['family', 'messages', 'refused', 'faults']];

  beforeAll(async () => {
    campaign = await Campaign.start();
  });

  afterAll(async () => {
    await campaign?.server.kill();
    printTable(`Messages, seed ${SEED}`, rows);
  });

  test.each(FAMILIES.map(([name], index) => [name, index] as const))('%s', async (name, index) => {
    const outcome = await campaign.run(familyOf(index));
    refused += outcome.refused;
    rows.push([name, outcome.messages, outcome.refused, outcome.faults]);
    expect(outcome.shown.join('\n')).toBe('');
  });

  function* familyOf(index: number): Generator<Message> {
    if (ONLY !== undefined) {
      if (ONLY % FAMILIES.length === index) yield generateMessage(SEED, ONLY, campaign.keys);
      return;
    }
    for (let number = index; number < MESSAGES; number += FAMILIES.length) {
      yield generateMessage(SEED, number, campaign.keys);
    }
  }

  test('every acknowledged pet is stored exactly, no other pet is, and no smuggled request ran', async () => {
    expect(campaign.ledger.size).toBeGreaterThan(ONLY === undefined ? MESSAGES / 20 : 0);
    // Many messages are broken.
    expect(refused).toBeGreaterThan(ONLY === undefined ? MESSAGES / 4 : -1);
    const faults = campaign.ledger.faultsOf(await exportOf(campaign.server.folder));
    if (faults.length > 0)
      throw new Error(`${BROKEN_PROMISE}: ${faults.length} faults:\n${faults.slice(0, 30).join('\n')}`);
  });

  /** At the end of the process, its log is searched for the keys. */
  test('the server is alive, and stops gracefully', async () => {
    const { server } = campaign;
    expect((await fetch(`${server.origin}/readyz`)).status).toBe(200);
    expect(await server.stop()).toEqual({ code: 0, signal: null });
  });
});

/** Behind nginx, a message takes as long as its timeouts, because nginx waits for what is missing. */
const BEHIND_NGINX = Math.ceil(MESSAGES / 50);

test.skipIf(!hasNginx)(
  `${BEHIND_NGINX} messages behind nginx: both agree where each request ends`,
  TIMEOUT,
  async () => {
    const campaign = await Campaign.start();
    const { keys, ledger, server } = campaign;
    const nginx = await startNginx({ servers: [server.port], isLimited: false });
    const messages = Array.from({ length: BEHIND_NGINX }, (_, number) => generateMessage(SEED, number, keys));
    // nginx itself sends 501 to an unknown transfer coding, and 505 to an unknown version.
    const outcome = await campaign.run(messages, nginx.origin, (_, { responses }) =>
      responses
        .filter(({ status }) => status >= 500 && status !== 501 && status !== 505)
        .map(({ head }) => head),
    );
    expect(outcome.shown).toEqual([]);
    expect(ledger.faultsOf(await exportOf(server.folder)), BROKEN_PROMISE).toEqual([]);
    expect(ledger.size).toBeGreaterThan(BEHIND_NGINX / 30);
    expect((await fetch(`${nginx.origin}/livez`)).status).toBe(200);
    expect(await server.stop()).toEqual({ code: 0, signal: null });
  },
);
