/** The operations of this release: one of them is deprecated, and some are served only with the option `experimental`. */

import { BOOLEAN, type OptionRules } from '../../application/arguments.ts';
import { OPERATIONS, type Operation } from './operations.ts';

export const DEPRECATED_SINCE: Date = new Date('2025-12-05T00:00:00Z');

/** The sunset of the deprecated operation, which keeps working until a release removes it. */
export const SUNSET: Date = new Date('2030-12-05T00:00:00Z');

/** The options of operations that are not stable. */
export interface LifecycleOptions {
  /** Whether to serve the experimental operations: changing pets, removing pets, and listing changes. Default: `false`. */
  readonly experimental?: boolean | undefined;
}

/** The option that `createApi` refuses if the storage cannot change pets. */
export const CHANGES_OPTION = 'experimental';

export const LIFECYCLE_RULES: OptionRules<LifecycleOptions> = { experimental: BOOLEAN };

const EXPERIMENTAL: readonly Operation['id'][] = ['changePet', 'removePet', 'listChanges'];

const DEPRECATED: Partial<Operation> = {
  description:
    `Deprecated, due for removal on ${SUNSET.toISOString().slice(0, 10)}. ` +
    'Use `GET /pets` instead: with a `status` filter, or for one pet with `after=<id - 1>&limit=1`, and compare its `id`.',
  deprecated: true,
};

/** The header fields of the deprecated operation. */
export type DeprecationFields = Readonly<Record<'Deprecation' | 'Sunset' | 'Link', string>>;

export const DEPRECATION_NAMES: readonly string[] = ['Deprecation', 'Sunset'];

/** Returns the deprecation header fields of an error response. A 401 has none. */
export function deprecationOfError(state: { deprecation?: DeprecationFields }, status: number): object {
  return (status !== 401 && state.deprecation) || {};
}

/** Returns the operations of a server. If experimental ones are served, `createPet` responds with an entity tag. */
export function servedOperations({ experimental = false }: LifecycleOptions = {}): readonly Operation[] {
  const served = OPERATIONS.filter(({ id }) => experimental || !EXPERIMENTAL.includes(id));
  return served.map((operation): Operation => {
    const { id, success } = operation;
    if (id === 'getPet') return { ...operation, ...DEPRECATED };
    if (EXPERIMENTAL.includes(id)) return { ...operation, stability: 'experimental' };
    if (experimental || success.fields === undefined) return operation;
    const fields = success.fields.filter((name) => name !== 'PetTag');
    return { ...operation, success: { ...success, fields } };
  });
}

/** The built OpenAPI documents, each with the operations that it describes. */
export const DOCUMENTS: Readonly<Record<string, readonly Operation[]>> = {
  'openapi.json': servedOperations(),
  'openapi-experimental.json': servedOperations({ experimental: true }),
};

/** Returns the name of a built document. */
export function documentNameOf({ experimental = false }: LifecycleOptions): string {
  return experimental ? 'openapi-experimental.json' : 'openapi.json';
}
