import type { Pet } from '../domain/pet.ts';
import { petJson } from '../domain/pet-json.ts';

/** The versions of a pet to which a change may apply: any version, or only the versions with one of these entity tags. */
export type IfMatch = '*' | readonly string[];

/** A pet, and the entity tag that identifies its version. */
export interface TaggedPet {
  readonly pet: Pet;
  /** The value of the `ETag` field, with its quotes. */
  readonly etag: string;
}

/** The form of a strong entity tag (RFC 9110, section 8.8.3). */
export const STRONG_TAG: RegExp = /^"[!#-~\x80-\xff]*"$/;

/** Returns the SHA-256 hash of a text, in base64url. */
export async function hashOf(text: string): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)));
  const base64 = btoa(String.fromCharCode(...hash));
  return base64.replaceAll('+', '-').replaceAll('/', '_').replace('=', '');
}

/** Returns the strong entity tag of a pet (RFC 9110, section 8.8.3): the hash of its JSON, in quotes, as in the API's `ETag`. */
export async function entityTagOf(pet: Pet): Promise<string> {
  return `"${await hashOf(petJson(pet))}"`;
}
