import type { TransferOptions } from '../../application/ports/pet-transfer.ts';
import { INT64_MIN } from '../../domain/int64.ts';
import type { NewPet, Pet } from '../../domain/pet.ts';

/** The maximum number of pets that one statement copies. */
const COPY_SIZE = 20_000;

/** A temporary table of an engine, and the transaction that copies its rows into the store. */
export interface StagingTable {
  /** Adds pets to the table, and returns those that have the id of an earlier pet. Rejects when the storage is closed. */
  stagePets(pets: readonly (NewPet | Pet)[]): Promise<readonly Pet[]>;
  /** Rejects with `idsNotAccepted` when the store has ever had a pet. */
  refuseIdsInUse(): Promise<void>;
  /** Begins the transaction. */
  begin(withIds: boolean): Promise<void>;
  /** Copies the next rows, and resolves with the place of the last one and their number, or when no row is left, `null`. */
  copyPets(
    withIds: boolean,
    after: bigint,
    limit: number,
  ): Promise<readonly [last: bigint, count: number] | null>;
  /** Commits the transaction, which copied `count` pets. */
  commit(withIds: boolean, count: number): Promise<void>;
}

/** Fills a temporary table, which locks nothing, and then copies its rows into the store in one transaction. */
export async function importStaged(
  table: StagingTable,
  batches: AsyncIterable<readonly (NewPet | Pet)[]>,
  { onDuplicateId, onProgress, signal }: TransferOptions,
): Promise<number> {
  let withIds: boolean | undefined;
  for await (const batch of batches) {
    signal?.throwIfAborted();
    const [first] = batch;
    if (first === undefined) continue;
    if (withIds === undefined && 'id' in first) await table.refuseIdsInUse();
    withIds = 'id' in first;
    for (const pet of await table.stagePets(batch)) onDuplicateId(pet);
  }
  withIds ??= false;
  await table.begin(withIds);
  if (withIds) await table.refuseIdsInUse();
  let copied = 0;
  for (let after = INT64_MIN; ; ) {
    signal?.throwIfAborted();
    const next = await table.copyPets(withIds, after, COPY_SIZE);
    if (next === null) break;
    after = next[0];
    copied += next[1];
    onProgress?.(copied);
  }
  await table.commit(withIds, copied);
  return copied;
}
