/** The entity tags of pets, which the console sends in `If-Match`. */

import { parseExact } from './exact-json.ts';
import { type SampleRequest, TAG_FIELD } from './samples/request.ts';

/** The parts of a response from which the entity tags of pets are read. */
export interface TaggedResponse {
  readonly status: number;
  readonly etag: string | null;
  readonly text: string;
  /** Whether this response repeats an earlier one. */
  readonly isReplay: boolean;
}

/** The known entity tags, by pet id: `undefined` for a pet that does not exist, or whose tag the server has refused (412). */
export type EntityTags = ReadonlyMap<string, string | undefined>;

/**
 * Adds to the known entity tags those in a response. A replay, which can be old, adds a tag only for a pet that is not known
 * yet, or whose known tag the request has sent.
 */
export function withTagsOf(
  known: EntityTags,
  request: Pick<SampleRequest, 'parameters'>,
  response: TaggedResponse,
): EntityTags {
  const sent = request.parameters[TAG_FIELD];
  const isNewer = (id: string) =>
    !response.isReplay || !known.has(id) || (sent !== undefined && known.get(id) === sent);
  return new Map([...known, ...[...entityTagsIn(request, response)].filter(([id]) => isNewer(id))]);
}

/** Returns the entity tags in a response. */
export function entityTagsIn(
  { parameters }: Pick<SampleRequest, 'parameters'>,
  { status, etag, text }: TaggedResponse,
): EntityTags {
  const { petId } = parameters;
  if (petId !== undefined) {
    if ([204, 404, 412].includes(status)) return new Map([[String(petId), undefined]]);
    return new Map(status === 200 && etag !== null ? [[String(petId), etag]] : []);
  }
  if (status !== 200 && status !== 201) return new Map();
  const body = bodyOf(text);
  if (!Array.isArray(body)) {
    const id = memberOf(body, 'id');
    return new Map(id === undefined || etag === null ? [] : [[String(id), etag]]);
  }
  const changes = body.map((change): [unknown, unknown] => {
    const removed = memberOf(change, 'removed');
    return removed === undefined
      ? [memberOf(memberOf(change, 'pet'), 'id'), memberOf(change, 'etag')]
      : [removed, undefined];
  });
  // Leaves out the elements of a list of pets, which have neither `removed` nor `pet`.
  const known = changes.filter(([id]) => id !== undefined);
  return new Map(known.map(([id, tag]) => [String(id), tag === undefined ? undefined : String(tag)]));
}

function bodyOf(text: string): unknown {
  try {
    return parseExact(text);
  } catch {
    return undefined;
  }
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}
