import { asAnimalStoreError, invalidRequest } from '../domain/errors.ts';
import { type NewPet, type NewPetInput, newPet, type Pet, petWithId } from '../domain/pet.ts';
import {
  BOOLEAN,
  checkArgument,
  checkOptions,
  FUNCTION,
  type OptionRules,
  type Rule,
  SIGNAL,
} from './arguments.ts';
import type { PetTransfer, TransferOptions } from './ports/pet-transfer.ts';

/** A pet to import. Either all pets of an import have an id, or none of them has one. A pet with an id keeps its id. */
export type ImportedPet = NewPetInput & { readonly id?: bigint | number | undefined };

/** The options of an import: callbacks, and a signal that cancels the import. */
export interface ImportOptions extends Pick<TransferOptions, 'onProgress' | 'signal'> {
  /**
   * Called for each pet that breaks a rule, with the pet and the reason, before the next batch is requested. The
   * refused pet is not imported. An exception of the callback ends the import. Without a callback, the first pet that
   * breaks a rule ends the import.
   */
  readonly onRefused?: ((pet: ImportedPet, reason: string) => void) | undefined;
  /** Whether all checks are made, but no pet is stored. Default: false. */
  readonly dryRun?: boolean | undefined;
}

const OPTIONS: OptionRules<ImportOptions> = {
  onRefused: FUNCTION,
  onProgress: FUNCTION,
  dryRun: BOOLEAN,
  signal: SIGNAL,
};

const EXPECTED = 'an async iterable of arrays';

const BATCH: Rule = { expected: EXPECTED, accepts: Array.isArray };
/** An iterable that is not asynchronous is accepted too. */
const BATCHES: Rule = {
  expected: EXPECTED,
  accepts: (value) =>
    typeof value === 'object' &&
    value !== null &&
    (Symbol.asyncIterator in value || Symbol.iterator in value),
};

/** Imports pets in bulk. When anything fails, no pet is stored. */
export class ImportPets {
  readonly #transfer: PetTransfer;

  constructor(transfer: PetTransfer) {
    this.#transfer = transfer;
  }

  /**
   * Resolves with the number of stored pets. Rejects with `invalid_request` when a pet breaks a rule and `onRefused` is
   * not set. Rejects with the same code when the pets have ids and the store has ever had a pet. A dry run resolves
   * with the number of pets that an import would store.
   */
  async execute(
    batches: AsyncIterable<readonly ImportedPet[]>,
    options: ImportOptions = {},
  ): Promise<number> {
    checkArgument('batches', batches, BATCHES);
    checkOptions(options, OPTIONS);
    const { onRefused = refuse, onProgress, dryRun = false, signal } = options;
    const validate = petValidator();
    /** The inputs of the current batch, because `onRefused` gets the input of a pet with a duplicate id. */
    let inputs = new Map<NewPet | Pet, ImportedPet>();
    let count = 0;
    let isChecked = false;
    const pets = async function* () {
      for await (const batch of batches) {
        checkArgument('batches', batch, BATCH);
        inputs = new Map();
        for (const input of batch) {
          try {
            inputs.set(validate(input), input);
          } catch (error) {
            const refusal = asAnimalStoreError(error);
            if (refusal?.code !== 'invalid_request') throw error;
            onRefused(input, refusal.message);
          }
        }
        count += inputs.size;
        yield [...inputs.keys()];
      }
      isChecked = true;
      // The contract of the port: when a batch fails, nothing is stored.
      if (dryRun) throw new Error('the dry run is complete');
    };
    const onDuplicateId = (pet: Pet): void => {
      count -= 1;
      onRefused(inputs.get(pet) as ImportedPet, `duplicate id ${pet.id}`);
    };
    try {
      return await this.#transfer.importPets(pets(), { onDuplicateId, onProgress, signal });
    } catch (error) {
      if (dryRun && isChecked) return count;
      throw error;
    }
  }
}

/** Returns a function that validates the pets of an import, of which either all have an id or none has. */
function petValidator(): (input: ImportedPet) => NewPet | Pet {
  let haveIds: boolean | undefined;
  return (input) => {
    const id = input?.id;
    const hasId = id !== undefined;
    const pet = hasId ? petWithId({ ...input, id }) : newPet(input);
    haveIds ??= hasId;
    if (hasId === haveIds) return pet;
    throw invalidRequest(
      `id ${hasId ? 'must be left out' : 'is required'}: either all pets have an id or none has`,
    );
  };
}

function refuse(_pet: ImportedPet, reason: string): never {
  throw invalidRequest(reason);
}
