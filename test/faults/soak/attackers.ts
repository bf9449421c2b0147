/** The main module of a process: runs every attack at once until it is told to stop. Arguments: a target and names. */

import { setPriority } from 'node:os';
import type { Attack, Target } from './attacks/attack.ts';
import { connects, resets, upgrades } from './attacks/broken-connections.ts';
import {
  garbage,
  healthFlood,
  preflightFlood,
  reconnects,
  refusedFlood,
  wrongKeys,
} from './attacks/floods.ts';
import { halfBodies, slowBodies, slowHeads } from './attacks/slow-clients.ts';
import { unreadDocument, unreadLists, unreadRefusals } from './attacks/unread-pipelines.ts';

const ATTACKS: Readonly<Record<string, Attack>> = {
  'unread-document': unreadDocument,
  'unread-refusals': unreadRefusals,
  'unread-lists': unreadLists,
  'slow-heads': slowHeads,
  'slow-bodies': slowBodies,
  resets,
  connects,
  upgrades,
  'wrong-keys': wrongKeys,
  garbage,
  'refused-flood': refusedFlood,
  'health-flood': healthFlood,
  'preflight-flood': preflightFlood,
  reconnects,
  'half-bodies': halfBodies,
};

/** The counts of each attack. */
export type Counts = Readonly<Record<string, number>>;

const [target = '', names = ''] = process.argv.slice(2);
const chosen = names === '' ? Object.keys(ATTACKS) : names.split(',');
const counts: Record<string, number> = {};

/** The attacks stand for other machines. They must not take processor time from the server and from the probes. */
setPriority(10);

for (const name of chosen) {
  const attack = ATTACKS[name];
  if (attack === undefined)
    throw new Error(`no attack '${name}': expected ${Object.keys(ATTACKS).join(', ')}`);
  attack(JSON.parse(target) as Target, (what) => {
    const label = `${name}: ${what}`;
    counts[label] = (counts[label] ?? 0) + 1;
  });
}

/** The process exits like a client that crashes: every connection breaks. */
process.once('message', () => process.send?.(counts satisfies Counts, () => process.exit(0)));
process.once('disconnect', () => process.exit(0));
