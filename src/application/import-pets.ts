import { invalidRequest } from '../domain/errors.ts';
import { type ImportedPet, type NewPet, newPet, type Pet, petWithId } from '../domain/pet.ts';
import type { PetTransfer, TransferOptions } from './ports/pet-transfer.ts';
import { iterateUntilAborted } from './until-aborted.ts';

/** The options of `AnimalStore.importPets`. */
export interface ImportOptions extends Pick<TransferOptions, 'onProgress' | 'signal'> {
  /**
   * Called for each pet that breaks a rule, before the next batch is requested. This pet is not imported. An exception of the
   * callback ends the import. Without a callback, the first pet that breaks a rule ends the import.
   */
  readonly onRefused?: ((pet: ImportedPet, reason: string) => void) | undefined;
  /** Whether all checks are made, but no pet is stored. Default: false. */
  readonly dryRun?: boolean | undefined;
}

/** Checks pets, and imports the valid ones in bulk. */
export class ImportPets {
  readonly #transfer: PetTransfer;

  constructor(transfer: PetTransfer) {
    this.#transfer = transfer;
  }

  /** Resolves with the number of pets that were stored, or, in a dry run, that would have been stored. */
  async execute(
    batches: AsyncIterable<readonly ImportedPet[]>,
    options: ImportOptions = {},
  ): Promise<number> {
    const { onRefused, onProgress, dryRun = false, signal } = options;
    const validate = petValidator();
    /** Maps each valid pet of the current batch to its input, which `onRefused` gets if the id is a duplicate. */
    let inputs = new Map<NewPet | Pet, ImportedPet>();
    let count = 0;
    let position = 0;
    let isChecked = false;
    const pets = async function* () {
      for await (const batch of iterateUntilAborted(batches, signal)) {
        inputs = new Map();
        if (!Array.isArray(batch)) throw invalidRequest('batches: expected arrays of pets');
        for (const input of batch) {
          position += 1;
          try {
            inputs.set(validate(input), input);
          } catch (error) {
            const { message } = error as Error;
            if (onRefused === undefined) throw invalidRequest(`pet ${position} of the import: ${message}`);
            onRefused(input, message);
          }
        }
        count += inputs.size;
        yield [...inputs.keys()];
      }
      isChecked = true;
      // Ends a dry run: when the iteration over the batches throws, the port stores no pet.
      if (dryRun) throw new Error('the dry run is complete');
    };
    const onDuplicateId = (pet: Pet): void => {
      count -= 1;
      const message = `duplicate id ${pet.id}`;
      if (onRefused === undefined) throw invalidRequest(message);
      onRefused(inputs.get(pet) as ImportedPet, message);
    };
    try {
      return await this.#transfer.importPets(pets(), { onDuplicateId, onProgress, signal });
    } catch (error) {
      if (dryRun && isChecked) return count;
      throw error;
    }
  }
}

function petValidator(): (input: ImportedPet) => NewPet | Pet {
  let haveIds: boolean | undefined;
  return (input) => {
    const id = input?.id;
    const hasId = id !== undefined;
    const pet = hasId ? petWithId({ ...input, id }) : newPet(input);
    haveIds ??= hasId;
    if (hasId === haveIds) return pet;
    const fault = hasId ? 'must be left out' : 'is required';
    throw invalidRequest(`id ${fault}: either all pets have an id or none has`);
  };
}
