import type { Pet } from '../domain/pet.ts';
import { petJson } from '../domain/pet-json.ts';

/** Which versions of a pet a change is for: any version, or those with one of these entity tags. */
export type IfMatch = '*' | readonly string[];

/** Returns the strong entity tag of a pet (RFC 9110, section 8.8.3): the hash of its JSON, in quotes. */
export async function entityTagOf(pet: Pet): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(petJson(pet))));
  const text = btoa(String.fromCharCode(...hash));
  return `"${text.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')}"`;
}
