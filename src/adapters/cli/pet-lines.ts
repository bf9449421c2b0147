/** From lines of NDJSON to animals. */

import { AnimalStoreError, asAnimalStoreError } from '../../domain/errors.ts';
import { parseJson } from '../../domain/json.ts';
import { type NewPet, newPet, type Pet, petWithId } from '../../domain/pet.ts';
import type { Line } from './lines.ts';

export interface PetLinesOptions {
  /** Whether ids that the animals bring along are left behind. */
  readonly newIds: boolean;
  /** Told of a line that cannot be taken. What this throws ends the reading; else the line is left out. */
  readonly onRefused: (line: Line, reason: string) => void;
}

/** Reads the lines of one import, whose animals either all bring their id along or none does. */
export class PetLines {
  readonly #newIds: boolean;
  readonly #onRefused: PetLinesOptions['onRefused'];
  #lines: Line[] = [];
  #pets: (NewPet | Pet)[] = [];
  #haveIds: boolean | undefined;
  #count = 0;

  constructor({ newIds, onRefused }: PetLinesOptions) {
    this.#newIds = newIds;
    this.#onRefused = onRefused;
  }

  /** How many animals were read and not refused. */
  get count(): number {
    return this.#count;
  }

  get haveIds(): boolean {
    return this.#haveIds ?? false;
  }

  /** A batch of animals for each of lines; lines of nothing but white space are passed over. */
  async *read(batches: AsyncIterable<readonly Line[]>): AsyncGenerator<readonly (NewPet | Pet)[]> {
    for await (const lines of batches) {
      this.#lines = [];
      this.#pets = [];
      for (const line of lines) this.#take(line);
      this.#count += this.#pets.length;
      yield this.#pets;
    }
  }

  /** Refuses an animal of the last batch, whose id is taken. */
  refuse(pet: Pet): void {
    this.#count -= 1;
    this.#onRefused(this.#lines[this.#pets.indexOf(pet)] as Line, `id ${pet.id} is given twice`);
  }

  #take(line: Line): void {
    if (line.fault === undefined && line.text.trim() === '') return;
    try {
      this.#pets.push(this.#petOf(line));
      this.#lines.push(line);
    } catch (error) {
      const refusal = asAnimalStoreError(error);
      if (refusal?.code !== 'invalid_request') throw error;
      this.#onRefused(line, refusal.message);
    }
  }

  #petOf({ text, fault }: Line): NewPet | Pet {
    if (fault !== undefined) throw invalid(fault);
    const value = parse(text);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw invalid('it must be a JSON object');
    }
    const members = value as Members;
    const hasId = !this.#newIds && members['id'] !== undefined;
    const pet = hasId ? petWithId(inputOf(members)) : newPet(inputOf(members));
    this.#haveIds ??= hasId;
    if (hasId !== this.#haveIds) {
      throw invalid(`id ${hasId ? 'must be left out' : 'is required'}: either all animals have one or none`);
    }
    return pet;
  }
}

type Members = Readonly<Record<string, unknown>>;

/** The members as they came: the domain looks at each of them. */
function inputOf({ id, name, categoryId, status }: Members): Pet {
  return { id: integer(id), name, categoryId: integer(categoryId), status } as Pet;
}

/** An exact number comes as either of the two types. */
function integer(value: unknown): unknown {
  return Number.isSafeInteger(value) ? BigInt(value as number) : value;
}

function parse(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    throw invalid(`it is not JSON: ${(error as SyntaxError).message}`);
  }
}

function invalid(message: string): AnimalStoreError {
  return new AnimalStoreError('invalid_request', message);
}
