/** The requests of each kind of work. `load/wrk.lua` generates the same requests for wrk. */

export const WORKS = ['list', 'list-random', 'get', 'create', 'mix'] as const;
export type Work = (typeof WORKS)[number];

export const WORK_TITLES: Readonly<Record<Work, string>> = {
  list: 'list of 20',
  'list-random': 'list, random status and limit',
  get: 'get by random id',
  create: 'durable create',
  mix: '90 % list, 10 % create',
};

export function writes(work: Work): boolean {
  return work === 'create' || work === 'mix';
}

export interface Request {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: string;
}

const STATUSES = ['available', 'pending', 'sold'] as const;

/** Returns the next request of a work, for a store with `pets` pets. */
export function nextRequest(work: Work, pets: number, random: () => number): Request {
  const upTo = (bound: number) => 1 + Math.floor(random() * bound);
  switch (work) {
    case 'list':
      return { method: 'GET', path: '/v1/pets' };
    case 'list-random': {
      const status = STATUSES[upTo(STATUSES.length + 1) - 1];
      const filter = status === undefined ? '' : `&status=${status}`;
      return { method: 'GET', path: `/v1/pets?limit=${upTo(100)}${filter}` };
    }
    case 'get':
      return { method: 'GET', path: `/v1/pets/${upTo(pets)}` };
    case 'create': {
      const categoryId = upTo(10) === 1 ? `9007199254${String(upTo(900_000)).padStart(6, '0')}` : upTo(1000);
      const body = `{"name":"Bello ${upTo(1_000_000)}","categoryId":${categoryId},"status":"${STATUSES[upTo(3) - 1]}"}`;
      return { method: 'POST', path: '/v1/pets', body };
    }
    case 'mix':
      return nextRequest(upTo(10) === 1 ? 'create' : 'list', pets, random);
  }
}
