/** Request targets: paths, URLs and queries, some of which exist in the API. */

import type { Random } from '../random.ts';

export function oddTarget(usual: string, random: Random): string {
  switch (random.below(8)) {
    case 0:
      return random.pick(ORIGINS) + (random.chance(0.7) ? usual : random.pick(TARGETS));
    case 1:
      return `${usual}${usual.includes('?') ? '&' : '?'}${oddQuery(random)}`;
    case 2:
      return usual + random.text('/?#%&=;.:@[]\\"<>^`{|}~\xa0\xff', random.between(1, 30));
    case 3:
      return random.pick(
        [12_000, 15_500, 16_384, 25_000, 70_000].map((size) => `/v1/pets?${'x'.repeat(size)}`),
      );
    case 4:
      return random.bytes(random.between(1, 20)).replaceAll(/[\r\n]/g, '');
    default:
      return random.pick(TARGETS);
  }
}

const TARGETS = [
  ...(
    '* ? # / // ///v1/pets //v1/pets /v1 /v1/ /v1? /v1# /v1/pets#x /V1/PETS /v1/pets/ /v1//pets ' +
    '/v1/./pets /v1/../v1/pets /x/../v1/pets /./v1/pets /v1/pets/.. /v1%2fpets /%76%31/pets /v1/%70ets ' +
    '/v1/pets%00 /v1/pets/%zz /v1/pets/% /v1/pets/1%2f2 /v1/pets/%c0%ae /v1/pets/1;x=y /v1;x/pets ' +
    '\\v1\\pets /v1\\pets /v1/pets/-1 /v1/pets/+1 /v1/pets/01 /v1/pets/1.0 /v1/pets/1e0 /v1/pets/0x1 ' +
    '/v1/pets/%31 v1/pets . .. pets localhost:80 [::1]:80 127.0.0.1 /v1/pets/\u00e9 /v1/pets/\xff\xfe ' +
    '/v1/pets/1\0 /v1/pets\t /v1/pets/\x7f /livez/..;/v1/pets /docs/../v1/pets /docs/..%2fv1/pets ' +
    '/docs/../../package.json /docs/%2e%2e/%2e%2e/package.json /docs/docs.js%00.html /docs/constructor ' +
    '/livez?x /livez#x /livez/ /LIVEZ /__proto__ /constructor /v1/__proto__ /v1/pets/toString /metrics ' +
    '/metrics/ /favicon.ico /.env /v1/pets?limit=1#?limit=1000 /v1pets /v1. /v10/pets'
  ).split(' '),
  ...['', '/v1/pets/ 1', '/v1/pets/1 '],
];

const ORIGINS = [
  ...(
    'http://127.0.0.1 http://x HTTP://X https://x:443 http://user:pass@x http://[::1] http://[::1 http:// ' +
    'http: http:/ http:/// http://x:99999 http://x:y ftp://x file:// urn:x ws://x javascript: ' +
    'http://\u00fc http://x\\y http://% http://x? http://x# //x x://x'
  ).split(' '),
];

const QUERY_NAMES = [
  ...'limit status after LIMIT limit[] %6cimit page __proto__ %'.split(' '),
  ...['', 'limit '],
];
const QUERY_VALUES = [
  ...(
    '0 1 20 100 101 -1 +1 1.0 1e1 01 %31 0x1 \u0661 null NaN %00 available AVAILABLE sold,pending ' +
    '9223372036854775807 9223372036854775808 -9223372036854775808 99999999999999999999999999 %zz % [1] ' +
    '1&1 1;1 %e2%82 %ff + %20 true'
  ).split(' '),
  ...['', "1'--"],
];

function oddQuery(random: Random): string {
  const pairs = Array.from({ length: random.between(1, random.chance(0.05) ? 500 : 4) }, () => {
    const equals = random.chance(0.9) ? '=' : '';
    return random.pick(QUERY_NAMES) + equals + random.pick(QUERY_VALUES);
  });
  return pairs.join(random.pick(['&', '&', '&&', ';'])).replaceAll(/[^\x21-\xff]/g, '_');
}
