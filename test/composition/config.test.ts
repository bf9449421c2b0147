import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { expect, test } from 'vitest';
import { ConfigError, type Environment, readSettings } from '../../src/composition/config/settings.ts';
import { describeSettings, loadConfig, shownSettings } from '../../src/composition/config.ts';
import { OWN_DEFAULTS, OWN_SETTINGS } from '../support/lifecycle.ts';
import { temporaryFolder } from '../support/process.ts';
import { configFault } from '../support/service.ts';

const KEY = 'operator-key-of-32-characters-or-more';
const DEFAULTS = {
  host: '127.0.0.1',
  port: 3000,
  database: expect.objectContaining({
    scheme: 'sqlite',
    location: './data/animal-store.db',
    source: 'the default store',
  }),
  apiKeys: [],
  firstKey: 'print',
  logLevel: 'info',
  shutdownTimeout: 10_000,
  misspellings: [],
  idempotencyDays: 1,
  http: {
    publicUrl: undefined,
    corsOrigins: undefined,
    trustedProxies: 0,
    rateLimit: undefined,
    maxConnections: undefined,
    ...OWN_DEFAULTS,
  },
};

const NAMES = [
  ...'HOST PORT DATABASE_URL API_KEYS LOG_LEVEL PUBLIC_URL CORS_ORIGIN SHUTDOWN_TIMEOUT_MS'.split(' '),
  ...'MAX_CONNECTIONS RATE_LIMIT TRUST_PROXY IDEMPOTENCY_DAYS FIRST_KEY'.split(' '),
  ...OWN_SETTINGS,
];

const database = (scheme: string, location: string) => ({
  database: expect.objectContaining({ scheme, location, source: 'DATABASE_URL' }),
});

function secretFile(text: string): string {
  const path = join(temporaryFolder(), 'secret');
  writeFileSync(path, text);
  return path;
}

const faultsOf = (environment: Environment) => configFault(() => loadConfig(environment)).split('\n');

test('a variable that only older releases had is refused, and an empty one is ignored', () => {
  const read = (OLD: string) => () => readSettings(v.object({}), { OLD }, {}, { OLD: 'use NEW', OLDER: '' });
  expect(configFault(read('1'))).toBe('OLD: this variable is gone: use NEW');
  expect(read('')).not.toThrow();
});

test('everything has a default, an empty variable counts as not set, and other variables are ignored', () => {
  const { DATABASE_URL: _, ...empty } = Object.fromEntries(NAMES.map((name) => [name, '']));
  expect(loadConfig(empty)).toEqual(DEFAULTS);
  expect(loadConfig({ PATH: '/bin', port: 'x', HOSTNAME: 'x', DATABASE: 'x' })).toEqual(DEFAULTS);
});

test('a database URL that is empty, such as after a failed command, does not select the default store', () => {
  for (const name of ['DATABASE_URL', 'DATABASE_URL_FILE'])
    expect(faultsOf({ [name]: '' })).toEqual([
      `${name}: the variable is empty: set it, or unset it to use the default store`,
    ]);
  const set = { DATABASE_URL: '', DATABASE_URL_FILE: secretFile('memory:') };
  expect(loadConfig(set).database).toMatchObject({ scheme: 'memory', source: 'DATABASE_URL_FILE' });
  const file = secretFile(' \n');
  expect(faultsOf({ DATABASE_URL_FILE: file })).toEqual([`DATABASE_URL_FILE: the file ${file} is empty`]);
});

test.each([
  ['HOST', '::1', { host: '::1' }],
  ['PORT', '65535', { port: 65_535 }],
  ['DATABASE_URL', 'memory:', database('memory', '')],
  ['DATABASE_URL', 'sqlite:/var/lib/pets.db', database('sqlite', '/var/lib/pets.db')],
  ['API_KEYS', `${KEY}-1, ${KEY}-2`, { apiKeys: [`${KEY}-1`, `${KEY}-2`] }],
  ['API_KEYS', '~'.repeat(32), { apiKeys: ['~'.repeat(32)] }],
  ...['silent', 'error', 'warn', 'info', 'debug'].map(
    (level) => ['LOG_LEVEL', level, { logLevel: level }] as const,
  ),
  ['PUBLIC_URL', 'http://a.example:8080/base/', { http: { publicUrl: 'http://a.example:8080/base' } }],
  ['PUBLIC_URL', 'https://pets.example/@team', { http: { publicUrl: 'https://pets.example/@team' } }],
  ['CORS_ORIGIN', 'http://a, http://b:1', { http: { corsOrigins: ['http://a', 'http://b:1'] } }],
  ...['capacitor://localhost', 'tauri://localhost', 'chrome-extension://abcdef', 'vscode-webview://a-1'].map(
    (origin) => ['CORS_ORIGIN', origin, { http: { corsOrigins: [origin] } }] as const,
  ),
  ['TRUST_PROXY', '2', { http: { trustedProxies: 2 } }],
  ['RATE_LIMIT', '600/min', { http: { rateLimit: { requests: 600, seconds: 60 } } }],
  ['SHUTDOWN_TIMEOUT_MS', '2147483647', { shutdownTimeout: 2_147_483_647 }],
  ['MAX_CONNECTIONS', '1', { http: { maxConnections: 1 } }],
  ['IDEMPOTENCY_DAYS', '90', { idempotencyDays: 90 }],
  ['FIRST_KEY', 'none', { firstKey: 'none' }],
] as const)('%s=%s is accepted', (name, value, part) => {
  const http = { ...DEFAULTS.http, ...('http' in part ? part.http : {}) };
  expect(loadConfig({ [name]: value })).toEqual({ ...DEFAULTS, ...part, http });
});

/** Wrong values of each variable, with vertical bars between them. */
const WRONG: readonly [name: string, expected: string, values: string][] = [
  [
    'HOST',
    'a host name or an IP address without a zone',
    '[::1]|fe80::1%eth0|127.0.0.1:3000|http://localhost|a b|999.1.1.1',
  ],
  ['PORT', 'an integer from 0 to 65535', '65536|3000.5|0x10|80 '],
  ['LOG_LEVEL', 'one of silent, error, warn, info, debug', 'INFO'],
  ['IDEMPOTENCY_DAYS', 'an integer from 1 to 90', '0|91'],
  ['PUBLIC_URL', 'an http or https URL without', 'pets.example|ftp://a.b|https://a.b:99999|https://a.b?x=1'],
  [
    'CORS_ORIGIN',
    'origins such as https://example.org or capacitor://localhost, without wildcards',
    '*|null|https://a.example/|https://*.a.b|capacitor://localhost/x|HTTPS://a.b|https://a:443|https://a,,https://b',
  ],
  ['TRUST_PROXY', 'the number of proxies in front of the server, from 0 to 100', '-1|101|true| |10.0.0.0/8'],
  ['RATE_LIMIT', 'a number of requests from 1 to 999999 per s, min or h, such as 100/s', '100|0/s|1/d|1.5/s'],
  ['SHUTDOWN_TIMEOUT_MS', 'an integer from 0 to 2147483647', '10s|2147483648'],
  ['MAX_CONNECTIONS', 'an integer from 1 to 1000000', '0|auto'],
  ['FIRST_KEY', 'one of print, none', 'NONE|file:/run/first-key'],
];

test.each(
  WRONG.flatMap(([name, expected, values]) => values.split('|').map((value) => [name, value, expected])),
)('%s=%s is refused with what was expected and what it got', (name = '', value = '', expected = '') => {
  const lines = faultsOf({ [name]: value });
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain(`${name}: expected ${expected}`);
  expect(lines[0]).toContain(`, got '${value}'`);
});

test('a variable that is nearly a setting has no effect, and is named with that setting', () => {
  const { misspellings } = loadConfig({
    LOG_LEVE: 'x',
    RATE_LIMITS: '1/s',
    ...Object.fromEntries(OWN_SETTINGS.map((name) => [`${name}S`, 'on'])),
    ...Object.fromEntries('PORTS PATH HOME HOSTS HOSTNAME NODE_ENV'.split(' ').map((name) => [name, '1'])),
    LOG_LEVEL: 'warn',
    npm_a: '',
  });
  expect(misspellings).toEqual([
    expect.stringMatching(/^LOG_LEVE: .*: is LOG_LEVEL meant\?$/),
    expect.stringMatching(/^RATE_LIMITS: .*: is RATE_LIMIT meant\?$/),
    ...OWN_SETTINGS.map((name) => expect.stringMatching(new RegExp(`^${name}S: .*: is ${name} meant\\?$`))),
  ]);
});

test('each variable is described with its default and its meaning', () => {
  const described = describeSettings();
  expect(described.map(({ name }) => name)).toEqual(NAMES);
  const meaning = 'the port to listen on; 0 takes a free one';
  expect(described).toContainEqual({ name: 'PORT', fallback: '3000', meaning });
  expect(described.map((each) => each.meaning)).not.toContain('');
  const { database: _, ...others } = loadConfig(
    Object.fromEntries(described.map(({ name, fallback }) => [name, fallback])),
  );
  expect({ ...DEFAULTS, ...others }).toEqual(DEFAULTS);
});

test('the variables that are set are shown, and no secret', () => {
  const secrets = { API_KEYS: KEY, DATABASE_URL_FILE: '/x', PUBLIC_URL: 'a:b@c' };
  expect(shownSettings({ PORT: '80', HOST: '', WORKERS: '2', ...secrets })).toEqual([
    { name: 'PORT', value: '80' },
    { name: 'DATABASE_URL_FILE', value: '(not shown)' },
    { name: 'API_KEYS', value: '(not shown)' },
    { name: 'PUBLIC_URL', value: '(not shown)' },
  ]);
});

test.each([
  ['PUBLIC_URL', 'https://hunter2@pets.example'],
  ['PUBLIC_URL', 'https://me:hunter2@[::1'],
  ['PUBLIC_URL', 'https://me:hunter2\uff20pets.example'],
  ['CORS_ORIGIN', 'https://a.example,https://me:hunter2@b.example'],
  ['TRUST_PROXY', 'me:hunter2@10.0.0.2'],
  ['DATABASE_URL_FILE', 'postgres://me:hunter2@db.example/pets'],
])('a password in %s=%s is refused and not shown', (name, value) => {
  const [line, ...more] = faultsOf({ [name]: value });
  expect(more).toEqual([]);
  expect(line).toMatch(new RegExp(`^${name}: .*may hold a password`));
  expect(line).not.toContain('hunter2');
});

test.each([
  ['a key that is too short', 'API_KEYS', `${KEY},hunter2`],
  ['a key beyond ASCII', 'API_KEYS', `hunter2-\u00e4${'x'.repeat(32)}`],
  ['an empty key in the list', 'API_KEYS', `${KEY},,${KEY}`],
  ['a key per line', 'API_KEYS', `hunter2-${KEY}\n${KEY}`],
  ['the same key twice', 'API_KEYS', `${KEY},${KEY}-hunter2,${KEY}`],
  ['a password in a URL', 'DATABASE_URL', 'mysql://me:hunter2@db.example/pets'],
])('no message shows a secret: %s', (_case, name, value) => {
  for (const environment of [{ [name]: value }, { [`${name}_FILE`]: secretFile(value) }]) {
    const [line = '', ...more] = faultsOf(environment);
    expect(more).toEqual([]);
    expect(line).toMatch(new RegExp(`^${name}.*: expected`));
    for (const secret of ['hunter2', KEY]) expect(line).not.toContain(secret);
  }
});

test('options have precedence, and are named in faults', () => {
  const environment = { HOST: 'a b', PORT: 'x' };
  expect(loadConfig(environment, { host: '::1', port: '0' })).toEqual({ ...DEFAULTS, host: '::1', port: 0 });
  expect(() => loadConfig({ PORT: '80' }, { host: '', port: '65536' })).toThrow(
    new ConfigError(
      "--host: expected a host name or an IP address without a zone, got ''\n--port: expected an integer from 0 to 65535, got '65536'",
    ),
  );
});

test('all faults are reported at once, one line each', () => {
  const lines = faultsOf({ ...Object.fromEntries(NAMES.map((name) => [name, 'x'])), HOST: 'a\nb' });
  expect(lines.map((line) => line.split(':')[0])).toEqual(NAMES);
  expect(lines[0]).toBe("HOST: expected a host name or an IP address without a zone, got 'a\\u000ab'");
});

test('a secret is read from a file, without the line feed at the end', () => {
  const [DATABASE_URL_FILE, API_KEYS_FILE] = [secretFile('memory:\n'), secretFile(`${KEY}-1,${KEY}-2\n`)];
  expect(loadConfig({ API_KEYS_FILE: secretFile('\n') }).apiKeys).toEqual([]);
  expect(loadConfig({ DATABASE_URL_FILE, API_KEYS_FILE })).toEqual({
    ...DEFAULTS,
    database: expect.objectContaining({
      scheme: 'memory',
      location: '',
      source: 'DATABASE_URL_FILE',
      readUrl: expect.any(Function),
    }),
    apiKeys: [`${KEY}-1`, `${KEY}-2`],
  });
});

test('a file of a secret that cannot be read, or whose variable is set too, is refused', () => {
  const folder = temporaryFolder();
  for (const path of [folder, join(folder, 'missing')])
    expect(faultsOf({ API_KEYS_FILE: path })).toEqual([`API_KEYS_FILE: the file ${path} cannot be read`]);
  expect(faultsOf({ API_KEYS: KEY, API_KEYS_FILE: secretFile(KEY) })).toEqual([
    'API_KEYS_FILE: API_KEYS is set too: set one of them only',
  ]);
});

// Node.js reads such names from a file `.env` with a byte order mark, in UTF-8 and in UTF-16.
test.each(['\ufeffPORT', '\ufffd\ufffdP\u0000O\u0000'])('the mark of a file .env is refused: %j', (name) => {
  const message = '.env: the file begins with a byte order mark: save it in UTF-8 without one';
  expect(faultsOf({ [name]: '80' })).toEqual([message]);
});
