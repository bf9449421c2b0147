/** Parses lines of NDJSON into pets to import. The application checks later whether each pet is valid. */

import type { ImportedPet } from '../../application/import-pets.ts';
import { parsePetMembers } from '../../domain/pet-json.ts';
import type { Line } from './lines.ts';

export interface PetLinesOptions {
  /** Whether the ids in the lines are ignored. */
  readonly newIds: boolean;
  /** Called with each line that cannot be imported. The line is skipped. If the callback throws, the import fails. */
  readonly onRefused: (line: Line, reason: string) => void;
}

/** A pet and the line from which the pet was read. The application ignores the property `line`. */
type PetOfLine = ImportedPet & { readonly line: Line };

/** Reads the lines of one import. */
export class PetLines {
  readonly #newIds: boolean;
  readonly #onRefused: PetLinesOptions['onRefused'];
  /** The refused lines of the current batch, with the reasons. */
  #refusals: { readonly line: Line; readonly reason: string }[] = [];
  #haveIds = false;
  #count = 0;

  constructor({ newIds, onRefused }: PetLinesOptions) {
    this.#newIds = newIds;
    this.#onRefused = onRefused;
  }

  /** The number of pets that were read so far and not refused. */
  get count(): number {
    return this.#count;
  }

  /** Whether any pet that was read has an id. Always false with the option `newIds`. */
  get haveIds(): boolean {
    return this.#haveIds;
  }

  /**
   * Yields the pets of each batch of lines, without blank lines. The application checks the pets of a batch, and may
   * call `refuse`, before it requests the next batch. At this request, all refused lines of the batch are passed to
   * `onRefused`, in the order of their line numbers.
   */
  async *read(batches: AsyncIterable<readonly Line[]>): AsyncGenerator<readonly ImportedPet[]> {
    for await (const lines of batches) {
      const pets: PetOfLine[] = [];
      for (const line of lines) {
        const pet = this.#petOf(line);
        if (typeof pet === 'string') this.#refusals.push({ line, reason: pet });
        else if (pet !== undefined) pets.push(pet);
      }
      this.#count += pets.length;
      yield pets;
      const refusals = this.#refusals.toSorted((one, other) => one.line.number - other.line.number);
      this.#refusals = [];
      for (const { line, reason } of refusals) this.#onRefused(line, reason);
    }
  }

  /** Refuses a pet of the most recent batch. */
  refuse(pet: ImportedPet, reason: string): void {
    this.#count -= 1;
    this.#refusals.push({ line: (pet as PetOfLine).line, reason });
  }

  /** Returns the pet of a line, the reason (a string) why the line is refused, or `undefined` for a blank line. */
  #petOf(line: Line): PetOfLine | string | undefined {
    if (line.fault !== undefined) return line.fault;
    if (line.text.trim() === '') return undefined;
    try {
      const { id, ...members } = parsePetMembers(line.text);
      const givenId = this.#newIds ? undefined : id;
      this.#haveIds ||= givenId !== undefined;
      return { ...members, id: givenId, line };
    } catch (error) {
      return (error as Error).message;
    }
  }
}
