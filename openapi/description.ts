/** The description of the API in the OpenAPI document, in Markdown. Its links lead to the guides of the reference page. */

import { IDEMPOTENCY_DAYS } from '../src/application/create-pet.ts';
import { LIMIT_MAX } from '../src/application/list-pets.ts';
import { ATTRIBUTES, PET_ATTRIBUTES } from '../src/domain/pet.ts';
import { deprecationNotes } from './lifecycle.ts';

/** Returns the description of the API. Its numbers are constants of the code, such as `LIMIT_MAX`. */
export function apiDescription(hasChanges = false): string {
  return [
    'An API for a store that holds pets. All bodies are JSON.',
    '',
    `- **Authentication.** Send an API key as a bearer token: \`Authorization: Bearer <API_KEY>\`. The operator of the store creates keys with \`animal-store keys create\`. Without a valid key, the response is 401 \`unauthorized\`, unless the head of the request cannot be read.`,
    `- **Exact integers.** ${inWords(['id', ...PET_ATTRIBUTES.filter((name) => ATTRIBUTES[name].kind === 'int64')])} are int64, and exact in every request and response. \`JSON.parse\` of JavaScript rounds integers above 2^53: ${link('see how to read them', 'How do I read large integers exactly?')}.`,
    `- **Pages.** The body of a list is a bare array, in ascending order of \`id\`, with at most ${LIMIT_MAX} pets. While more pets follow, \`Link\` has the URL of the next page: ${link('how to read all pets', 'How do I read all pets?')}, and ${link('how to keep a copy in sync', 'How do I keep a copy in sync?')}.`,
    `- **Safe retries.** Send a new \`Idempotency-Key\` with each create, and repeat the request with the same key when no response arrives: for ${IDEMPOTENCY_DAYS * 24} hours, or longer if the operator has raised it, the pet is stored once. See ${link('whether a create was stored', 'A create timed out: was it stored?')} and ${link('when to retry', 'When do I retry?')}.`,
    `- **Errors.** The body of every error has exactly the members \`code\`, \`message\` and \`status\`. Programs should read \`code\`: ${link('all codes', 'What do errors look like?')}. When several errors apply, the response is the first of these: 431, 408 or 400 for a head that cannot be read, 503 \`overloaded\`, 401, 429, 400 for the message, 404, 405, 403 \`forbidden\`, 415, 413, 408 for the body, 400 for the query, the body or the \`Idempotency-Key\`, ${hasChanges ? '410 for a cursor, 428, 422, 404 for the pet, 412, 409' : '422'}.`,
    `- **Limits.** Values beyond a limit are refused, and never adjusted: ${link('the limits', 'Which limits are there?')}.`,
    `- **Caching.** The response to a GET has a strong \`ETag\`, and is 304 for a request with this value in \`If-None-Match\`. ${hasChanges ? 'Changes and removals need `If-Match`: 428 without it, and 412 if the pet has changed since.' : 'Other preconditions are ignored.'} See ${link('the header fields', 'Which header fields does a response have?')}.`,
    ...deprecationNotes(link('how to read one pet', 'How do I read one pet?')),
  ].join('\n');
}

/** @param heading a heading of `docs/api.md` */
function link(text: string, heading: string): string {
  return `[${text}](docs#${slugOf(heading)})`;
}

/** Converts a heading to the fragment of its URL, as the reference page does. */
export function slugOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
}

/** Returns names as a list in words, such as `a`, `b` and `c`. */
function inWords(names: readonly string[]): string {
  return new Intl.ListFormat('en-GB').format(names.map((name) => `\`${name}\``));
}
