import type { Deprecation } from '../../application/deprecation.ts';
import { fenced } from '../../application/observers.ts';
import type { ClientOptions } from '../../application/store-options.ts';
import type { ResponseListener } from './api-client.ts';

/** The operations that this process has warned about. */
const WARNED = new Set<string>();

/** Returns a listener that reads the deprecation header fields (RFC 9745, RFC 8594), and reports each deprecated operation once. */
export function deprecationListener({ onDeprecation = warnOfDeprecation }: ClientOptions): ResponseListener {
  const deprecated = new Set<string>();
  return (operation, headers) => {
    const field = headers.get('Deprecation');
    if (field === null || deprecated.has(operation)) return;
    deprecated.add(operation);
    const since = dateOf(Number(/^@(\d+)$/.exec(field)?.[1]) * 1000);
    const sunset = dateOf(Date.parse(headers.get('Sunset') ?? ''));
    fenced(() => onDeprecation({ operation, since, sunset }));
  };
}

function dateOf(milliseconds: number): Date | undefined {
  const date = new Date(milliseconds);
  return Number.isNaN(date.getTime()) ? undefined : date;
}

function warnOfDeprecation({ operation, sunset }: Deprecation): void {
  if (WARNED.has(operation)) return;
  WARNED.add(operation);
  const end = sunset === undefined ? '' : `, and due for removal from ${sunset.toISOString().slice(0, 10)}`;
  console.warn(
    `animal-store: the operation ${operation} of the API is deprecated${end}; onDeprecation replaces this warning`,
  );
}
