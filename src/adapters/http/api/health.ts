/** The health checks, which need no API key and are never refused. */

import { storageFaultReason } from '../../../application/ports/storage-fault.ts';
import type { Admission } from './admission.ts';
import { STATUS_OF } from './errors.ts';
import type { Handler } from './exchange.ts';
import type { ApiResponse } from './http.ts';
import type { HttpStore } from './options.ts';
import { jsonResponse } from './responses.ts';

export function isHealthCheck(path: string): boolean {
  return path === '/livez' || path === '/readyz';
}

export const livez: Handler = () => jsonResponse(200, '{"status":"ok"}');

export function readyz(store: HttpStore, admission: Admission): Handler {
  return async () => {
    if (admission.isStopping) return unavailable('stopping');
    try {
      await store.check();
    } catch (error) {
      return unavailable(storageFaultReason(error) ?? 'storage');
    }
    return jsonResponse(200, '{"status":"ok"}');
  };
}

function unavailable(reason: string): ApiResponse {
  const body = JSON.stringify({ status: 'unavailable', reason });
  return jsonResponse(STATUS_OF.storage_unavailable, body, ['Retry-After', '1']);
}
