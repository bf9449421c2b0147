/** What tests must know of the operations that are not stable yet. */

/** The option of a server that serves changes. */
export const CHANGING = { experimental: true } as const;

/** Whether a server with these options serves changes. */
export function servesChanges({
  experimental = false,
}: {
  readonly experimental?: boolean | undefined;
}): boolean {
  return experimental;
}

export const OWN_SETTINGS: readonly string[] = ['EXPERIMENTAL'];

export const OWN_DEFAULTS = { experimental: false } as const;

/** Settings with which another document is served. */
export const OTHER_SETTINGS: readonly Readonly<Record<string, string>>[] = [{ EXPERIMENTAL: 'on' }];
