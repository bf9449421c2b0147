import type { ImportedPet } from '../../../application/import-pets.ts';
import { parsePetMembers } from '../../../domain/pet-json.ts';
import type { Line } from './lines.ts';

/** A pet and the line from which the pet was read. The application ignores the property `line`. */
export type PetOfLine = ImportedPet & { readonly line: Line };

/**
 * Returns `undefined` for a blank line. Throws an error with the reason if the line contains no pet. The application
 * checks later whether the pet is valid.
 */
export function petOfLine(line: Line, newIds: boolean): PetOfLine | undefined {
  if (line.fault !== undefined) throw new Error(line.fault);
  if (line.text.trim() === '') return undefined;
  const { id, ...members } = parsePetMembers(line.text);
  return { ...members, id: newIds ? undefined : id, line };
}
