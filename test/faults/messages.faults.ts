/** Sends generated messages, each on its own connection. The server must follow its API for every message. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BROKEN_PROMISE } from '../support/retry.ts';
import { Campaign } from './campaign.ts';
import { type Delivery, FAMILIES, generateMessage, type Message, messageOf } from './messages/message.ts';
import { create, type Draft, get, type Request, writeRequest } from './messages/request.ts';
import { hasNginx, startNginx } from './nginx.ts';
import { MESSAGES, ONLY, SEED } from './options.ts';
import { Random } from './random.ts';
import { printTable } from './table.ts';

/** Handwritten messages are numbered from here, so that the names of their pets are unique. */
const BY_HAND = 1_000_000_000;

const TIMEOUT = { timeout: 120_000 + MESSAGES * 60 };

describe(`${MESSAGES} messages of seed ${SEED}`, TIMEOUT, () => {
  let campaign: Campaign;
  let refused = 0;
  const rows: (string | number)[][] = [['family', 'messages', 'refused', 'responses', 'faults', 'statuses']];

  beforeAll(async () => {
    campaign = await Campaign.start();
  });

  afterAll(async () => {
    await campaign?.server.kill();
    printTable(`Messages, seed ${SEED}`, rows);
  });

  async function expectFlawless(family: string, messages: Iterable<Message>): Promise<number> {
    const outcome = await campaign.run(messages);
    const statuses = [...outcome.statuses]
      .sort(([a], [b]) => a - b)
      .map(([status, times]) => `${status}: ${times}`);
    const { messages: count, responses, faults } = outcome;
    rows.push([family, count, outcome.refused, responses, faults, statuses.join(', ')]);
    if (outcome.faults > 0)
      throw new Error(`${outcome.faults} faults, such as:\n${outcome.shown.join('\n')}`);
    return outcome.refused;
  }

  test.each(FAMILIES.map(([name], index) => [name, index] as const))('%s', async (name, index) => {
    refused += await expectFlawless(name, familyOf(index));
  });

  test.skipIf(ONLY !== undefined)('many messages are broken: at least one of four gets an error', () => {
    expect(refused).toBeGreaterThan(MESSAGES / 4);
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

  test.skipIf(ONLY !== undefined).each<[string, number, (length: number, cut: number) => Delivery]>([
    ['cut in two', 2, (length, cut) => ({ cuts: [cut], sent: length, ending: 'wait' })],
    ['reset', 3, (_, cut) => ({ cuts: [], sent: cut, ending: 'reset' })],
    ['half-closed', 4, (_, cut) => ({ cuts: [], sent: cut, ending: 'half-close' })],
  ])('requests that are %s at every byte', async (how, base, delivery) => {
    await expectFlawless(`${how} at every byte`, atEveryByte(base * BY_HAND, delivery));
  });

  function atEveryByte(base: number, delivery: (length: number, cut: number) => Delivery): Message[] {
    const random = new Random(SEED, base);
    return samples(base, random).flatMap((sample, index) =>
      Array.from(sample.text, (_, at) => {
        const number = base + 10_000 * index + at;
        const draft = samples(number, random)[index] as Draft;
        return messageOf(number, draft, delivery(draft.text.length, Math.min(at + 1, draft.text.length)));
      }),
    );
  }

  /** One request of each kind of framing. */
  function samples(number: number, random: Random): Draft[] {
    const context = { number, keys: campaign.keys };
    const list = get('/v1/pets?limit=2', campaign.keys.generated, [200]);
    const plain = create(context, random);
    const coded = create(context, random);
    coded.fields = coded.fields.map((line) =>
      line.startsWith('Content-Length') ? 'Transfer-Encoding: chunked' : line,
    );
    coded.body = `${coded.body.length.toString(16)};x="y"\r\n${coded.body}\r\n0\r\nX: y\r\n\r\n`;
    const refused = { ...create(context, random), target: '/v1/nothing', expected: [404] };
    return [[list], [plain], [coded], [refused], [list, get('/v1/pets', undefined, [401])]].map(
      (requests: Request[]): Draft => ({
        recipe: 'by hand',
        requests,
        text: requests.map((request) => writeRequest(request)).join(''),
        isComplete: true,
      }),
    );
  }

  test('every acknowledged pet is stored exactly, no other pet is, and no smuggled request ran', async () => {
    expect(campaign.ledger.size).toBeGreaterThan(ONLY === undefined ? MESSAGES / 20 : 0);
    const faults = campaign.ledger.faultsOf(await campaign.server.export());
    if (faults.length > 0)
      throw new Error(`${BROKEN_PROMISE}: ${faults.length} faults:\n${faults.slice(0, 30).join('\n')}`);
  });

  test('no API key is in the log', () => {
    expect(campaign.server.out.stderr).toContain('"listening"');
    expect(campaign.secretsInLog(), BROKEN_PROMISE).toEqual([]);
  });

  test('the server is alive, and stops gracefully', async () => {
    const { server } = campaign;
    const words = () => server.out.stderr.replaceAll(/^\{.*\n/gm, '');
    expect(server.hasExited, words()).toBe(false);
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
    printTable(
      'Messages behind nginx',
      [...outcome.statuses].sort(([a], [b]) => a - b),
    );
    expect(outcome.shown).toEqual([]);
    expect(ledger.faultsOf(await server.export()), BROKEN_PROMISE).toEqual([]);
    expect(ledger.size).toBeGreaterThan(BEHIND_NGINX / 30);
    expect((await fetch(`${nginx.origin}/livez`)).status).toBe(200);
    expect(await server.stop()).toEqual({ code: 0, signal: null });
  },
);
