/** A pet in the database. Each pet is named after the idempotency key of its create. */
export interface StoredPet {
  readonly id: string;
  readonly name: string;
}

/** What is wrong with the stored pets. */
interface Damage {
  readonly lost: readonly string[];
  readonly 'ids given twice': readonly string[];
  readonly 'keys with two pets': readonly string[];
}

export const NO_DAMAGE: Damage = { lost: [], 'ids given twice': [], 'keys with two pets': [] };

/** Compares the acknowledged pets, each with its idempotency key, with the stored pets. */
export function damageOf(
  acknowledged: readonly [key: string, id: string][],
  stored: readonly StoredPet[],
): Damage {
  const names = new Map(stored.map(({ id, name }) => [id, name]));
  return {
    lost: acknowledged.filter(([key, id]) => names.get(id) !== key).map(([key]) => key),
    'ids given twice': repeatedIn(acknowledged.map(([, id]) => id)),
    'keys with two pets': repeatedIn(stored.map(({ name }) => name)),
  };
}

function repeatedIn(values: readonly string[]): string[] {
  const seen = new Set<string>();
  return values.filter((value) => seen.size === seen.add(value).size);
}
