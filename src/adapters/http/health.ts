/** Whether the process lives, and whether it can serve. For load balancers and supervisors, without a key. */

import type { Context } from 'koa';
import { storageFaultReason } from '../../application/storage-fault.ts';
import { sendJson } from './answer.ts';
import type { HttpAppOptions } from './app.ts';
import { STATUS_OF } from './errors.ts';
import type { Handler } from './pets.ts';

export const livez: Handler = async (ctx) => sendJson(ctx, 200, '{"status":"ok"}');

export function readyz({ check, isStopping }: HttpAppOptions): Handler {
  return async (ctx) => {
    if (isStopping?.()) return unavailable(ctx, 'stopping');
    try {
      await check();
    } catch (error) {
      return unavailable(ctx, storageFaultReason(error) ?? 'storage');
    }
    sendJson(ctx, 200, '{"status":"ok"}');
  };
}

function unavailable(ctx: Context, reason: string): void {
  const body = JSON.stringify({ status: 'unavailable', reason });
  sendJson(ctx, STATUS_OF.storage_unavailable, body, ['Retry-After', '1']);
}
