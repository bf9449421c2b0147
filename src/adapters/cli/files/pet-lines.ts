/** Parses lines of NDJSON into pets to import. The application checks later whether each pet is valid. */

import type { ImportedPet } from '../../../application/import-pets.ts';
import { parsePetMembers } from '../../../domain/pet-json.ts';
import type { Line } from './lines.ts';

/** A pet and the line from which the pet was read. The application ignores the property `line`. */
type PetOfLine = ImportedPet & { readonly line: Line };

/** A line that cannot be imported. */
export interface Refusal {
  readonly line: Line;
  readonly reason: string;
}

/** The pets and the refused lines of one import. */
export class PetLines {
  /** The number of pets that were read so far and not refused. */
  count = 0;
  /** Whether any pet that was read has an id that is not ignored. */
  haveIds = false;
  readonly #newIds: boolean;
  #refusals: Refusal[] = [];

  /** @param newIds whether the ids in the lines are ignored */
  constructor(newIds = false) {
    this.#newIds = newIds;
  }

  /** Returns the pets of a batch of lines, without blank lines, and refuses the lines that contain no pet. */
  parseLines(lines: readonly Line[]): readonly ImportedPet[] {
    const pets: PetOfLine[] = [];
    for (const line of lines) {
      const pet = this.#petOf(line);
      if (typeof pet === 'string') this.#refusals.push({ line, reason: pet });
      else if (pet !== undefined) pets.push(pet);
    }
    this.count += pets.length;
    return pets;
  }

  /** Refuses a pet that `parseLines` has returned. */
  refusePet(pet: ImportedPet, reason: string): void {
    this.count -= 1;
    this.#refusals.push({ line: (pet as PetOfLine).line, reason });
  }

  /** Returns the lines that were refused since the last call, in the order of their numbers. */
  takeRefusals(): readonly Refusal[] {
    const refusals = this.#refusals.toSorted((one, other) => one.line.number - other.line.number);
    this.#refusals = [];
    return refusals;
  }

  /** Returns the pet of a line, the reason (a string) why the line is refused, or `undefined` for a blank line. */
  #petOf(line: Line): PetOfLine | string | undefined {
    if (line.fault !== undefined) return line.fault;
    if (line.text.trim() === '') return undefined;
    try {
      const { id, ...members } = parsePetMembers(line.text);
      const givenId = this.#newIds ? undefined : id;
      this.haveIds ||= givenId !== undefined;
      return { ...members, id: givenId, line };
    } catch (error) {
      return (error as Error).message;
    }
  }
}
