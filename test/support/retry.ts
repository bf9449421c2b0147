/** Which failures of a test are tried once more: those of tests that wait for other processes, other programs or a network. */

/** In the message of an error that no second try excuses: a pet was lost or stored twice, or a key was leaked. */
export const BROKEN_PROMISE = 'broken promise';

/** The setting `retry` of such tests. `TEST_RETRIES=0` shows each failure. */
export const RETRY: { readonly count: number; readonly condition: RegExp } = {
  count: Number(process.env['TEST_RETRIES'] ?? 1),
  condition: new RegExp(`^(?![^]*${BROKEN_PROMISE})`),
};
