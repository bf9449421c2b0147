/** `JSON.rawJSON` exists in every supported version of Node.js, but not yet in the types of TypeScript. */
const { rawJSON } = JSON as typeof JSON & { rawJSON(text: string): unknown };

/** Returns a value as JSON, in which each `bigint` is an exact integer. */
export function exactJson(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) =>
    typeof member === 'bigint' ? rawJSON(String(member)) : member,
  );
}

/** Returns JSON with this number of spaces per level of indentation. Each number is unchanged. */
export function indentedJson(text: string, indent: number): string {
  return JSON.stringify(
    JSON.parse(text, unchanged as (key: string, value: unknown) => unknown),
    null,
    indent,
  );
}

function unchanged(_key: string, value: unknown, { source }: { source: string }): unknown {
  return typeof value === 'number' ? rawJSON(source) : value;
}
