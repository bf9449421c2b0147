/** The health checks, which need no API key, wait for no other request and are never refused. */

import { storageFaultReason } from '../../../application/ports/storage-fault.ts';
import type { Context, Stage } from './context.ts';
import { STATUS_OF } from './errors.ts';
import type { HttpStore } from './options.ts';
import { respondJson } from './responses.ts';

export function isHealthCheck(path: string): boolean {
  return path === '/livez' || path === '/readyz';
}

export const livez: Stage = (ctx) => respondJson(ctx, 200, '{"status":"ok"}');

export function readyz(store: HttpStore, isStopping: () => boolean): Stage {
  return async (ctx) => {
    if (isStopping()) return unavailable(ctx, 'stopping');
    try {
      await store.check();
    } catch (error) {
      return unavailable(ctx, storageFaultReason(error) ?? 'storage');
    }
    return respondJson(ctx, 200, '{"status":"ok"}');
  };
}

function unavailable(ctx: Context, reason: string): void {
  ctx.set('Retry-After', '1');
  respondJson(ctx, STATUS_OF.storage_unavailable, JSON.stringify({ status: 'unavailable', reason }));
}
