/** The int64 of the peers. */

export const INT64_MIN: bigint = -(2n ** 63n);
export const INT64_MAX: bigint = 2n ** 63n - 1n;

/** Parses the id of a pet. Returns `undefined` if the text is not an int64, because no pet can have such an id. */
export function readPetId(text: string): bigint | undefined {
  const id = /^-?\d{1,19}$/.test(text) ? BigInt(text) : undefined;
  return id === undefined || id < INT64_MIN || id > INT64_MAX ? undefined : id;
}
