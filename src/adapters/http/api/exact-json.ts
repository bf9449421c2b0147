/** `JSON.rawJSON` exists in every supported version of Node.js, but not yet in the types of TypeScript. */
const { rawJSON } = JSON as typeof JSON & { rawJSON(text: string): unknown };

/** Returns a value as JSON, in which each `bigint` is an exact integer. */
export function exactJson(value: unknown, indent = 0): string {
  return JSON.stringify(
    value,
    (_key, member: unknown) => (typeof member === 'bigint' ? rawJSON(String(member)) : member),
    indent,
  );
}
