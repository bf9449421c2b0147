/** Refuses the stores of releases before 3.0. Only release 3.0.0 can migrate them. */

import { storageUnavailable } from '../../application/ports/storage-fault.ts';

/** @param first the schema version of 3.0.0 */
export function refuseBefore30(store: string, version: number, first: number): void {
  if (version === 0 || version >= first) return;
  const older = `${store} has schema version ${version}, which is of a release before 3.0`;
  throw storageUnavailable(`${older}: start animal-store 3.0.0 with it once, which migrates it`);
}
