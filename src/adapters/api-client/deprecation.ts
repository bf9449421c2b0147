import type { Deprecation } from '../../application/store-options.ts';

const WARNED = new Set<string>();

/** Warns once per process and operation. */
export function warnOfDeprecation({ operation, sunset }: Deprecation): void {
  if (WARNED.has(operation)) return;
  WARNED.add(operation);
  const end = sunset === undefined ? '' : `, and will be removed on ${sunset.toISOString().slice(0, 10)}`;
  console.warn(
    `animal-store: the operation ${operation} of the API is deprecated${end}; onDeprecation replaces this warning`,
  );
}

/** Returns the notice in the header fields of a response (RFC 9745, RFC 8594), or `undefined` without one. */
export function deprecationOf(operation: string, headers: Headers): Deprecation | undefined {
  const since = headers.get('Deprecation');
  if (since === null) return undefined;
  return {
    operation,
    since: dateOf(Number(/^@(\d+)$/.exec(since)?.[1]) * 1000),
    sunset: dateOf(Date.parse(headers.get('Sunset') ?? '')),
  };
}

function dateOf(milliseconds: number): Date | undefined {
  return Number.isNaN(milliseconds) ? undefined : new Date(milliseconds);
}
