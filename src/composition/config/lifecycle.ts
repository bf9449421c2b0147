/** The settings that depend on the release: those for experimental and deprecated operations, and those that are gone. */

import type { HttpOptions } from '../../adapters/http/portable.ts';
import type { ClientOptions } from '../../application/store-options.ts';
import { type Format, oneOf } from './formats.ts';

export const ON_OR_OFF: Format<'on' | 'off'> = oneOf('on', 'off');

export function experimentalOf({ EXPERIMENTAL }: { readonly EXPERIMENTAL: 'on' | 'off' }): HttpOptions {
  return { experimental: EXPERIMENTAL === 'on' };
}

/** Commands ignore deprecations, because their users cannot replace a deprecated operation. */
export const CLIENT_OPTIONS: ClientOptions = { onDeprecation: () => {} };

/** The advice for each variable that only older releases had. */
export const GONE: Readonly<Record<string, string>> = {
  WORKERS:
    'start several servers of one store behind a proxy, such as animal-store@3001 and animal-store@3002',
  LOG_SAMPLE: 'set LOG_LEVEL to warn, or let what collects the log keep a share of its lines',
};
