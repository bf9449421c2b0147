/** Errors, messages and options that the storages with a schema share. */

import type { Rule } from '../../application/arguments.ts';
import { storageUnavailable } from '../../application/ports/storage-fault.ts';
import { AnimalStoreError, isError } from '../../domain/errors.ts';

export function refuseNewer(store: string, version: number, supported: number): void {
  if (version <= supported) return;
  const newer = `${store} has schema version ${version}, this release supports ${supported}`;
  throw storageUnavailable(`${newer}: use the release that wrote it, or a newer one`);
}

/** Returns a message about a store of an older release. Servers of that release may still be running. */
export function olderSchema(store: string, version: number, supported: number): string {
  return `${store} has schema version ${version}, this release uses ${supported}: use the release that wrote it, or start a server of this release, which migrates it`;
}

/** Returns the warning after a migration, which cannot be undone. */
export function migrated(version: number, supported: number): string {
  return `the schema was migrated from version ${version} to ${supported}: earlier releases refuse this store`;
}

const MIGRATIONS = ['always', 'alone', 'never'] as const;
/** How a store with an older schema is opened. `alone` migrates it only if no other process has it open. */
export type Migration = (typeof MIGRATIONS)[number];

export const MIGRATION: Rule = {
  expected: "'always', 'alone' or 'never'",
  accepts: (value) => MIGRATIONS.some((each) => each === value),
};

/** Returns the code of an error of a driver or of the operating system, or an empty string. */
export function codeOf(error: unknown): string {
  return isError(error) && 'code' in error ? String(error.code) : '';
}

/** Returns the error of a write whose row was dropped by a trigger of the database. */
export function rowDropped(): AnimalStoreError {
  const message = 'a trigger of the database has dropped a row: nothing was stored';
  return new AnimalStoreError('internal_error', message);
}
