/** The requests of each kind of work. `load/wrk.lua` generates the same requests for wrk. */

export const WORKS = ['list', 'list-random', 'get', 'create', 'mix'] as const;
/** The part `changes` has its own kinds of work, which are not in `WORKS`. */
export type Work = (typeof WORKS)[number] | 'change' | 'list-100' | 'changes';

export const WORK_TITLES: Readonly<Record<Work, string>> = {
  list: 'list of 20',
  'list-random': 'list, random status and limit',
  get: 'get by random id',
  create: 'durable create',
  mix: '90 % list, 10 % create',
  change: 'durable change, with If-Match',
  'list-100': 'list of 100 after a random id',
  changes: '100 changes after a random cursor',
};

export function writes(work: Work): boolean {
  return work === 'create' || work === 'mix';
}

export interface Request {
  readonly method: 'GET' | 'PATCH' | 'POST';
  readonly path: string;
  readonly body?: string;
}

const STATUSES = ['available', 'pending', 'sold'] as const;

/** Returns the next request of a kind of work, for a store with `pets` pets. A change is for the pet with the id `changed`. */
export function nextRequest(
  work: Work,
  { pets, epoch, changed = 0 }: { pets: number; epoch?: string | undefined; changed?: number },
  random: () => number,
): Request {
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
      return nextRequest(upTo(10) === 1 ? 'create' : 'list', { pets }, random);
    case 'change':
      return {
        method: 'PATCH',
        path: `/v1/pets/${changed}`,
        body: `{"name":"Bello ${upTo(1_000_000)}"}`,
      };
    case 'list-100':
      return { method: 'GET', path: `/v1/pets?limit=100&after=${upTo(pets)}` };
    case 'changes':
      return { method: 'GET', path: `/v1/changes?limit=100&after=${epoch}-${upTo(pets)}` };
  }
}
