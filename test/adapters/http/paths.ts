/** The paths of the server, from which tests generate the cases that hold for every path. */

import { DOCS_ASSETS } from '../../../src/adapters/http/docs/assets.ts';
import { servedOperations } from '../../../src/adapters/http/lifecycle.ts';
import { methodsOf, type Operation } from '../../../src/adapters/http/operations.ts';

export interface ServedPath {
  readonly target: string;
  readonly needsKey: boolean;
  readonly allow: string;
}

/** Returns the operations that use the repository of pets alone. */
export function petOperations(): readonly Operation[] {
  return servedOperations().filter(({ id }) => ['createPet', 'getPet', 'listPets'].includes(id));
}

const READ = 'GET, HEAD, OPTIONS';

function allowOf(path: string): string {
  const methods: string[] = servedOperations()
    .filter((each) => each.path === path)
    .map(({ method }) => method);
  return methodsOf(servedOperations())
    .filter((each) => each === 'OPTIONS' || methods.includes(each === 'HEAD' ? 'GET' : each))
    .join(', ');
}

/** All assets are served alike, so those of the page itself stand for the programs that it links to. */
const PAGE = DOCS_ASSETS.map(({ path }) => path).filter((path) =>
  /^\/docs(?:\/docs\.\w+|\/icon\.svg)?$/.test(path),
);
const PUBLIC = ['/livez', '/readyz', '/openapi.json', ...PAGE];

/** A pet with the id 1 must exist, and the metrics must be enabled. */
export const PATHS: readonly ServedPath[] = [
  ...[...new Set(servedOperations().map(({ path }) => path))].map((path) => ({
    target: path.replace('{petId}', '1'),
    needsKey: true,
    allow: allowOf(path),
  })),
  { target: '/metrics', needsKey: true, allow: READ },
  ...PUBLIC.map((target) => ({ target, needsKey: false, allow: READ })),
];

/** Methods that the server supports on some path, and others. */
export const METHODS: readonly string[] = 'GET HEAD POST OPTIONS PUT PATCH DELETE TRACE QUERY'.split(' ');

/** Targets that match no path, whatever the method. Those under `/v1` need a key nevertheless. */
export const UNKNOWN_TARGETS: readonly string[] = (
  '/v1 /v1/ /v1?limit=1 /v1/pets/ /v1/pets/1/ /v1/pets/1/x /v1/Pets /v1//pets /v1/pets//1 /v1/./pets /v1/x/../pets ' +
  '/ // /v1/store/orders /v1/%zz /v1/%70ets /v1/pets%3Flimit=1 /v1/pets;x=1 //v1/pets /v1%2Fpets /v1x /V1/pets /v2/pets ' +
  '/pets /%zz /%E0%A4 /LIVEZ /livez/ /docs/ /docs/none.js /docs/..%2fmain.js /openapi.json/ /metrics/ /__proto__'
).split(' ');

/** A body that is accepted, with its media type. */
export { REX_JSON as REX } from '../../support/pets.ts';

export const JSON_TYPE = { 'Content-Type': 'application/json' };
