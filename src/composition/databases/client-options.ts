/** The rules that validate the options of a store that is opened through the API of a server. */

import { FUNCTION, OBJECT, type OptionRules, STRING, TIMEOUT } from '../../application/arguments.ts';
import { DEPRECATION_RULES } from '../../application/deprecation.ts';
import type { ClientOptions } from '../../application/store-options.ts';

export const CLIENT_RULES: OptionRules<ClientOptions> = {
  apiKey: STRING,
  timeout: TIMEOUT,
  ...DEPRECATION_RULES,
  fetch: FUNCTION,
  headers: {
    expected: 'an object of header fields, without Authorization, Content-Type, Idempotency-Key and If-Match',
    accepts: (value) => OBJECT.accepts(value) && Object.entries(value as object).every(isHeader),
  },
};

function isHeader([name, value]: [string, unknown]): boolean {
  const isOwn = /^(?:authorization|content-type|idempotency-key|if-match)$/i.test(name);
  const isText = typeof value === 'string' && /^[\t\x20-\x7e]*$/.test(value);
  return isText && !isOwn && /^[!#-'*+.^`|~\w-]+$/.test(name);
}
