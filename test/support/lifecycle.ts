/** The operations that are not stable yet, for tests. */

/** The option of a server that serves changes, and of its document. */
export const CHANGING = { experimental: true } as const;

/** The same, as a setting. */
export const CHANGING_SETTINGS = { EXPERIMENTAL: 'on' } as const;

export const OWN_SETTINGS: readonly string[] = ['EXPERIMENTAL'];

export const OWN_DEFAULTS = { experimental: false } as const;
