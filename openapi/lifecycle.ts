/** Describes in the OpenAPI document which operations are deprecated or experimental. */

import { DEPRECATED_SINCE, SUNSET } from '../src/adapters/http/lifecycle.ts';
import type { Operation } from '../src/adapters/http/operations.ts';
import type { Part } from './schemas.ts';

type Field = 'Deprecation' | 'Sunset' | 'Successor';

export const DEPRECATION_FIELDS: Readonly<Record<Field, Part>> = {
  Deprecation: field('The time of deprecation as a Unix timestamp (RFC 9745).', {
    const: `@${DEPRECATED_SINCE.getTime() / 1000}`,
  }),
  Sunset: field('The time when the operation is due for removal (RFC 8594).', {
    const: SUNSET.toUTCString(),
  }),
  Successor: field('Links to the explanation of the deprecation, and to the operation to use instead.', {
    pattern:
      '^<[^>?]*/docs>; rel="deprecation"; type="text/html", <[^>?]*/v1/pets>; rel="successor-version"$',
  }),
};

/** The header field that `Successor` describes is called `Link`. */
export const DEPRECATION_NAMES = { Successor: 'Link' } as const;

export const DEPRECATION: readonly Field[] = ['Deprecation', 'Sunset', 'Successor'];

export function lifecycleOf({ deprecated, stability }: Operation): Part {
  return { deprecated, 'x-stability': stability };
}

/** Returns the mark of an error code: `Experimental.` if only experimental operations return the code, otherwise none. */
export function stabilityOfError(isStable: boolean): readonly string[] {
  return isStable ? [] : ['Experimental.'];
}

/** @param guide a link to the guide that explains what replaces the operation */
export function deprecationNotes(guide: string): readonly string[] {
  return [
    `- **Deprecation.** \`GET /pets/{petId}\` is deprecated since ${dayOf(DEPRECATED_SINCE)}, and is due for removal on ${dayOf(SUNSET)}: ${guide}.`,
  ];
}

/** Returns a day in words, such as `5 December 2030`. */
function dayOf(date: Date): string {
  return date.toLocaleDateString('en-GB', { dateStyle: 'long', timeZone: 'UTC' });
}

function field(description: string, schema: Part): Part {
  return { description, required: true, schema: { type: 'string', ...schema } };
}
