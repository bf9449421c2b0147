/** Draws the pictures of the manuals into docs/images: `npm run diagrams`. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Drawing } from './drawing.ts';

const IMAGES = join(import.meta.dirname, '../docs/images');

/** The pictures, by the names of their files. */
export function diagrams(): ReadonlyMap<string, string> {
  return new Map([
    ['retried-create.svg', retriedCreate()],
    ['deployment.svg', deployment()],
  ]);
}

function retriedCreate(): string {
  const drawing = new Drawing();
  const [client, server, store] = [90, 380, 670];
  for (const [x, name] of [
    [client, 'client'],
    [server, 'server'],
    [store, 'SQLite file'],
  ] as const) {
    drawing.box({ x: x - 60, y: 16 }, 120, 34, [name]);
    drawing.line(
      [
        { x, y: 50 },
        { x, y: 392 },
      ],
      'soft',
    );
  }
  const message = (from: number, to: number, y: number, text: string, tone: 'plain' | 'strong' = 'plain') => {
    drawing.arrow(
      [
        { x: from, y },
        { x: to, y },
      ],
      tone,
    );
    drawing.text({ x: (from + to) / 2, y: y - 8 }, text, { align: 'middle' });
  };
  message(client, server, 90, '`POST /v1/pets`, `Idempotency-Key: k1`');
  message(server, store, 124, 'commit: pet 1 and `k1`');
  drawing.line(
    [
      { x: server, y: 158 },
      { x: 240, y: 158 },
    ],
    'fault',
  );
  drawing.cross({ x: 232, y: 158 });
  drawing.text({ x: 310, y: 150 }, '201, pet 1', { align: 'middle' });
  drawing.text({ x: 392, y: 163 }, 'kill -9: no response', { tone: 'fault' });
  drawing.text({ x: client + 12, y: 190 }, 'stored or not? The client does not know.', { tone: 'soft' });
  drawing.box({ x: server - 80, y: 206 }, 160, 30, ['starts again']);
  message(client, server, 276, 'the same request, `k1` again');
  message(server, store, 310, '`k1` has pet 1');
  message(server, client, 344, '201, pet 1, `Idempotency-Replayed: true`', 'strong');
  drawing.text({ x: client + 12, y: 378 }, 'one pet, whatever happened', { tone: 'strong' });
  return drawing.svg(
    760,
    404,
    'A create that is retried: the server commits the pet and its idempotency key, and is killed before its response. The client sends the same request again, and gets the same pet.',
  );
}

function deployment(): string {
  const drawing = new Drawing();
  drawing.box({ x: 16, y: 112 }, 110, 56, ['clients', 'HTTPS']);
  drawing.arrow([
    { x: 126, y: 140 },
    { x: 186, y: 140 },
  ]);
  drawing.box({ x: 186, y: 104 }, 130, 72, ['proxy', 'TLS, `/readyz`', 'hides `/metrics`']);
  for (const [name, y] of [
    ['server A', 52],
    ['server B', 172],
  ] as const) {
    drawing.box({ x: 386, y }, 140, 56, [name, '`animal-store`'], 'strong');
    const from = y < 140 ? 124 : 156;
    drawing.arrow([
      { x: 316, y: from },
      { x: 350, y: from },
      { x: 350, y: y + 28 },
      { x: 386, y: y + 28 },
    ]);
    const to = y < 140 ? 124 : 156;
    drawing.arrow([
      { x: 526, y: y + 28 },
      { x: 562, y: y + 28 },
      { x: 562, y: to },
      { x: 598, y: to },
    ]);
  }
  drawing.box({ x: 598, y: 104 }, 146, 72, ['PostgreSQL', 'primary', 'reads and creates'], 'strong');
  drawing.arrow([
    { x: 671, y: 176 },
    { x: 671, y: 236 },
  ]);
  drawing.text({ x: 660, y: 210 }, 'synchronous', { tone: 'soft', align: 'end' });
  drawing.box({ x: 598, y: 236 }, 146, 56, ['standby', 'takes over']);
  drawing.box({ x: 186, y: 236 }, 130, 56, ['Prometheus', 'alerts.yml']);
  drawing.arrow(
    [
      { x: 316, y: 264 },
      { x: 456, y: 264 },
      { x: 456, y: 228 },
    ],
    'soft',
  );
  drawing.text({ x: 326, y: 256 }, '`/metrics` of each', { tone: 'soft' });
  return drawing.svg(
    760,
    308,
    'A deployment that survives a machine: a proxy with TLS in front of two servers, which share a PostgreSQL primary with a synchronous standby. Prometheus reads the metrics of each server.',
  );
}

if (import.meta.main) {
  for (const [name, svg] of diagrams()) writeFileSync(join(IMAGES, name), svg);
}
