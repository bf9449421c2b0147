import type { RequestOutcome } from '../../src/application/ports/request-observer.ts';

/** The outcome of a request that listed pets, as observers receive it. */
export const OUTCOME: RequestOutcome = {
  method: 'GET',
  route: '/v1/pets',
  path: undefined,
  status: 200,
  ms: 1.234,
  requestId: 'id-1',
  keyId: '1',
  address: '192.0.2.1',
  aborted: undefined,
  traceparent: undefined,
};
