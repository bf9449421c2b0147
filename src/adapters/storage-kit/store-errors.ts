/** What the storages with a schema say alike. */

import { isError } from '../../domain/errors.ts';

/** Returns a message about a store that a newer release wrote. */
export function newerSchema(store: string, version: number, supported: number): string | undefined {
  if (version <= supported) return undefined;
  return `${store} has schema version ${version}, this release supports ${supported}: use the release that wrote it, or a newer one`;
}

/** Returns the code of an error of a driver or of the operating system, or an empty string. */
export function codeOf(error: unknown): string {
  return isError(error) && 'code' in error ? String(error.code) : '';
}
