/** The description of the API in the OpenAPI document, in Markdown. The headings are the guides of the reference page. */

import { BODY_LIMIT } from '../src/adapters/http/body.ts';
import { STATUS_OF } from '../src/adapters/http/errors.ts';
import { DEPRECATED_SINCE, SUNSET } from '../src/adapters/http/operations.ts';
import { IDEMPOTENCY_DAYS, IDEMPOTENCY_DAYS_MAX } from '../src/application/create-pet-once.ts';
import { LIMIT_DEFAULT, LIMIT_MAX, LIMIT_MIN } from '../src/application/list-pets.ts';
import { IDEMPOTENCY_KEY_MAX_LENGTH } from '../src/domain/idempotency-key.ts';
import { ATTRIBUTES, type NewPet, PET_ATTRIBUTES } from '../src/domain/pet.ts';
import { ERROR_CODES, MESSAGES, WHEN } from './errors.ts';
import { followSamples, samplesOf } from './samples.ts';

/** Returns the description of the API. The limits and the errors are those of the code. */
export function apiDescription(): string {
  return `An API for a store that holds pets: list them, create one, or get one by its id. All bodies are JSON.

## Authentication

Every operation needs an API key. Send the key as a bearer token: \`Authorization: Bearer <API_KEY>\`. The operator of the store creates keys with \`animal-store keys create\`.

Without a valid key, the response is 401 \`unauthorized\`, whatever else is wrong with the request. Unknown, expired and revoked keys get the same response. A key can be read-only (\`keys create --read-only\`): a create with it gets 403 \`forbidden\`, and a program in a browser can hold such a key.

## Exact integers

${inWords(['id', ...PET_ATTRIBUTES.filter((name) => ATTRIBUTES[name].kind === 'int64')])} are int64, and exact in every request and response. A client that reads numbers as doubles rounds integers above 2^53, such as 9007199254740993.

- **JavaScript.** \`JSON.parse\` rounds. Pass it a function that reads \`source\`, the text of each number, as the samples with \`fetch\` do. This needs Node.js 22 or a browser of 2025.
- **Python.** \`json\` is exact.
- **Go.** Decode into \`int64\` members. Without a type, \`encoding/json\` decodes numbers into doubles.

In a request, \`5\`, \`5.0\` and \`5e0\` are the same integer. \`1.5\` and \`"5"\` are invalid.

## Pagination

The body of a list is a bare array, in ascending order of \`id\`. While more pets follow, \`Link\` has the URL of the next page: \`</v1/pets?limit=20&after=20>; rel="next"\`. The URL keeps \`limit\` and \`status\`, and is relative to the URL of the request.

Follow these links until a response has none. This visits every pet that existed at the start exactly once, even while pets are added. Each sample is a complete program, which reads the API key from \`ANIMAL_STORE_KEY\`.

${samplesOf('list')}

## Keep a copy in sync

Pets get ascending ids in the order in which they become visible, through any number of servers. A client that keeps a copy remembers the id of the last pet that it has stored, and requests \`GET /pets?limit=${LIMIT_MAX}&after=<last id>\`, with 0 at first. It stores the pets of the response together with their last id. When there are none, it waits, and repeats the request.

It misses no pet and gets none twice, also when the server or the client is restarted. A client that repeats a request often can send the \`ETag\` of the last response in \`If-None-Match\`: the response is 304 until a pet follows.

${followSamples()}

## Safe retries

A client that gets no response to a POST does not know whether the pet was stored. Send the header field \`Idempotency-Key\` with a new key for each pet, such as a UUID, and repeat the request with the same key.

For ${IDEMPOTENCY_DAYS * 24} hours, a request with the same key and the same pet gets the first response again, with \`Idempotency-Replayed: true\`, and stores nothing; the operator of a server can raise this to up to ${IDEMPOTENCY_DAYS_MAX} days. A request with the same key and a different pet gets 422 \`idempotency_conflict\`. Each API key has its own idempotency keys; a rotated key shares those of its predecessor.

Retry a request after a lost connection, 408, 429, 503, or a proxy's 502 or 504. Another error comes again; a retry after 500, as curl does, is harmless with the same key. Wait for the seconds in \`Retry-After\`, but limit the wait and the number of attempts:

${samplesOf('create')}

## Errors

The body of every error has exactly the members \`code\`, \`message\` and \`status\`. This includes errors for unknown paths and for messages that are not HTTP. Programs should read \`code\`. The message names the field and the rule.

| Code | Status | When | A \`message\` |
| --- | --- | --- | --- |
${ERROR_CODES.map((code) => `| \`${code}\` | ${STATUS_OF[code]} | ${WHEN[code]} | \`${MESSAGES[code]}\` |`).join('\n')}

When several errors apply, the response is the first of these: 503 \`overloaded\`, 401, 429, 400 for the message, 404, 405, 403 \`forbidden\`, 415, 413, 400 for the query or the body. A response with status 429 or 503 has \`Retry-After\`.

## Limits

| What | Limit |
| --- | --- |
| Request body | ${BODY_LIMIT / 1024} KiB |
| Request line and header fields | 16 KiB |
| Time to send the header fields | 10 s |
| Time to send the whole request | 30 s |
| \`limit\` of a list | ${LIMIT_MIN} to ${LIMIT_MAX}, by default ${LIMIT_DEFAULT} |
${PET_ATTRIBUTES.flatMap(limitOf).join('\n')}
| \`Idempotency-Key\` | 1 to ${IDEMPOTENCY_KEY_MAX_LENGTH} visible ASCII characters |

A value outside its limit is an error. Values are never adjusted.

## Load

A server that has more requests in flight than it can handle refuses further ones: 503 \`overloaded\` with \`Retry-After\`. A refused create is not stored.

The server has no rate limit, unless its operator sets one. The limit is per API key: further requests get 429 \`rate_limited\` with \`Retry-After\`.

A stopping server accepts no new connections, completes the requests in flight, and handles requests that arrive on open connections. A server with its maximum number of connections closes a further connection without a response.

## Caching

The response to a GET has a strong \`ETag\`. The response to a GET with this value in \`If-None-Match\` is 304 without a body, as long as nothing has changed. All other preconditions are ignored. HEAD is GET without the body.

## Deprecation

\`GET /pets/{petId}\` is deprecated since ${dayOf(DEPRECATED_SINCE)}, and is due for removal on ${dayOf(SUNSET)}. Use \`GET /pets\` with a \`status\` filter instead. To get one pet by its id, request \`GET /pets?after=6&limit=1\` for the id 7, and compare the id: the response has the next pet if there is none with this id.

Its responses have the header fields \`Deprecation\` (RFC 9745), \`Sunset\` (RFC 8594) and a \`Link\` to the replacement.`;
}

/** Returns the row of an attribute in the table of limits, if it has a limit. */
function limitOf(name: keyof NewPet): string[] {
  const attribute = ATTRIBUTES[name];
  switch (attribute.kind) {
    case 'text':
      return [`| \`${name}\` | ${attribute.minLength} to ${attribute.maxLength} Unicode code points |`];
    case 'one of':
      return [];
    default:
      return [`| \`${name}\` | ${attribute.min} to ${attribute.max} |`];
  }
}

/** Returns names as a list in words, such as `a`, `b` and `c`. */
function inWords(names: readonly string[]): string {
  const quoted = names.map((name) => `\`${name}\``);
  return [quoted.slice(0, -1).join(', '), quoted.at(-1)].join(' and ');
}

/** Returns a day in words, such as `5 December 2030`. */
function dayOf(date: Date): string {
  return date.toLocaleDateString('en-GB', { dateStyle: 'long', timeZone: 'UTC' });
}
