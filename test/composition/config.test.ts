import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ConfigError, type Environment } from '../../src/composition/config/settings.ts';
import { loadConfig } from '../../src/composition/config.ts';
import { temporaryFolder } from '../support/process.ts';

const KEY = 'operator-key-of-32-characters-or-more';
const DEFAULTS = {
  host: '127.0.0.1',
  port: 3000,
  workers: 1,
  database: { scheme: 'sqlite', location: './data/animal-store.db', source: 'the default store' },
  apiKeys: [],
  firstKey: 'print',
  logLevel: 'info',
  logSample: 1,
  shutdownTimeout: 10_000,
  idempotencyDays: 1,
  http: {
    publicUrl: undefined,
    corsOrigins: undefined,
    trustedProxies: undefined,
    rateLimit: undefined,
    maxConnections: undefined,
  },
};

const NETWORKS = 'addresses or networks such as 10.0.0.0/8';
const database = (scheme: string, location: string) => ({
  database: { scheme, location, source: 'DATABASE_URL' },
});

function secretFile(text: string): string {
  const path = join(temporaryFolder(), 'secret');
  writeFileSync(path, text);
  return path;
}

function faultsOf(environment: Environment): string[] {
  try {
    loadConfig(environment);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as Error).message.split('\n');
  }
  throw new Error(`accepted: ${JSON.stringify(environment)}`);
}

describe('the configuration', () => {
  test('has a default for everything, and an empty variable counts as not set', () => {
    expect(loadConfig({})).toEqual(DEFAULTS);
    const all = [
      ...'HOST PORT DATABASE_URL API_KEYS LOG_LEVEL PUBLIC_URL CORS_ORIGIN TRUST_PROXY'.split(' '),
      ...['SHUTDOWN_TIMEOUT_MS', 'DATABASE_URL_FILE', 'API_KEYS_FILE'],
    ];
    expect(loadConfig(Object.fromEntries(all.map((name) => [name, ''])))).toEqual(DEFAULTS);
  });

  test('ignores other variables', () => {
    expect(loadConfig({ PATH: '/bin', port: 'x', HOSTNAME: 'x', DATABASE: 'x' })).toEqual(DEFAULTS);
  });

  test.each([
    ['HOST', '0.0.0.0', { host: '0.0.0.0' }],
    ['HOST', '::1', { host: '::1' }],
    ['HOST', 'fe80::1%eth0', { host: 'fe80::1%eth0' }],
    ['HOST', 'localhost', { host: 'localhost' }],
    ['PORT', '0', { port: 0 }],
    ['PORT', '65535', { port: 65_535 }],
    ['DATABASE_URL', 'memory:', database('memory', '')],
    ['DATABASE_URL', 'sqlite:/var/lib/pets.db', database('sqlite', '/var/lib/pets.db')],
    ['DATABASE_URL', 'sqlite:pets.db', database('sqlite', 'pets.db')],
    ['API_KEYS', KEY, { apiKeys: [KEY] }],
    ['API_KEYS', `${KEY}-1, ${KEY}-2`, { apiKeys: [`${KEY}-1`, `${KEY}-2`] }],
    ['API_KEYS', '~'.repeat(32), { apiKeys: ['~'.repeat(32)] }],
    ...['silent', 'error', 'warn', 'info', 'debug'].map(
      (level) => ['LOG_LEVEL', level, { logLevel: level }] as const,
    ),
    ['PUBLIC_URL', 'https://pets.example', { http: { publicUrl: 'https://pets.example' } }],
    ['PUBLIC_URL', 'http://a.example:8080/base/', { http: { publicUrl: 'http://a.example:8080/base' } }],
    ['PUBLIC_URL', 'https://pets.example/@team', { http: { publicUrl: 'https://pets.example/@team' } }],
    ['CORS_ORIGIN', 'https://a.example', { http: { corsOrigins: ['https://a.example'] } }],
    ['CORS_ORIGIN', 'http://a, http://b:1', { http: { corsOrigins: ['http://a', 'http://b:1'] } }],
    ['SHUTDOWN_TIMEOUT_MS', '0', { shutdownTimeout: 0 }],
    ['SHUTDOWN_TIMEOUT_MS', '2147483647', { shutdownTimeout: 2_147_483_647 }],
    ['WORKERS', '64', { workers: 64 }],
    ['WORKERS', 'auto', { workers: Math.min(availableParallelism(), 64) }],
    ['MAX_CONNECTIONS', '1', { http: { maxConnections: 1 } }],
    ['IDEMPOTENCY_DAYS', '1', { idempotencyDays: 1 }],
    ['IDEMPOTENCY_DAYS', '90', { idempotencyDays: 90 }],
    ['LOG_SAMPLE', '1/1', { logSample: 1 }],
    ['LOG_SAMPLE', '1/999999', { logSample: 999_999 }],
    ['FIRST_KEY', 'print', { firstKey: 'print' }],
    ['FIRST_KEY', 'none', { firstKey: 'none' }],
    ['FIRST_KEY', 'file:/run/first-key', { firstKey: { path: '/run/first-key' } }],
  ] as const)('accepts %s=%s', (name, value, part) => {
    const http = { ...DEFAULTS.http, ...('http' in part ? part.http : {}) };
    expect(loadConfig({ [name]: value })).toEqual({ ...DEFAULTS, ...part, http });
  });

  /** Wrong values of each variable, with vertical bars between them. */
  const WRONG: readonly [name: string, expected: string, values: string][] = [
    ['HOST', 'a host name or an IP address', '[::1]|127.0.0.1:3000|http://localhost|a b'],
    ['PORT', 'an integer from 0 to 65535', '65536|3000.5|0x10|80 '],
    ['LOG_LEVEL', 'one of silent, error, warn, info, debug', 'INFO'],
    ['IDEMPOTENCY_DAYS', 'an integer from 1 to 90', '0|91|1.5'],
    ['LOG_SAMPLE', '1 or a share from 1/1 to 1/999999', '2/100|1/0|1 %'],
    ['PUBLIC_URL', 'an http or https URL', 'pets.example|ftp://pets.example|https://pets.example:99999'],
    ['PUBLIC_URL', 'an http or https URL without', 'https://pets.example?x=1|https://pets.example#x'],
    [
      'CORS_ORIGIN',
      'origins such as https://example.org, without wildcards',
      '*|https://a.example/|https://*.a.b',
    ],
    ['TRUST_PROXY', NETWORKS, 'proxy.example|10.0.0.1:80|10.0.0.0/33|::1/129|::ffff:10.0.0.0/95|10.0.0.0/'],
    ['TRUST_PROXY', NETWORKS, '10.0.0.0/-1|/8|fe80::1%eth0|true'],
    ['SHUTDOWN_TIMEOUT_MS', 'an integer from 0 to 2147483647', '10s|2147483648'],
    ['WORKERS', 'auto or an integer from 1 to 64', '0|65'],
    ['MAX_CONNECTIONS', 'an integer from 1 to 1000000', '0|auto'],
    ['FIRST_KEY', 'print, file:PATH or none', 'file:|/run/first-key|NONE|file:~/key'],
  ];

  test.each([
    ...WRONG.flatMap(([name, expected, values]) => values.split('|').map((value) => [name, value, expected])),
    ['TRUST_PROXY', '10.0.0.1,,10.0.0.2', NETWORKS, ''],
    ['TRUST_PROXY', '10.0.0.1, x', NETWORKS, 'x'],
  ])(
    'refuses %s=%s, and says what was expected and what it got',
    (name = '', value = '', expected = '', got = value) => {
      const lines = faultsOf({ [name]: value });
      expect(lines).toHaveLength(1);
      expect(lines[0]).toContain(`${name}: expected ${expected}`);
      expect(lines[0]).toContain(`, got '${got}'`);
    },
  );

  test('refuses several workers for a store in memory', () => {
    expect(faultsOf({ WORKERS: '2', DATABASE_URL: 'memory:' })).toEqual([
      'WORKERS: expected 1 for memory:, got 2',
    ]);
  });

  test.each([
    ['10.0.0.1', ['10.0.0.1', '::ffff:10.0.0.1'], ['10.0.0.2', '::1']],
    ['10.0.0.0/8, 192.0.2.1', ['10.255.255.255', '192.0.2.1'], ['11.0.0.0', '192.0.2.2']],
    ['::1', ['::1'], ['::2', '127.0.0.1']],
    ['2001:DB8::/32', ['2001:db8:ffff::1'], ['2001:db9::1']],
    ['::ffff:10.0.0.0/104', ['10.1.2.3'], ['11.1.2.3']],
    ['::FFFF:10.0.0.1', ['10.0.0.1'], ['10.0.0.2']],
    ['0.0.0.0/0,::/0', ['203.0.113.9', '2001:db8::1'], []],
  ])('reads TRUST_PROXY=%s', (value, trusted, others) => {
    const { trustedProxies } = loadConfig({ TRUST_PROXY: value }).http;
    const isTrusted = (address: string) =>
      trustedProxies?.check(address, address.includes(':') ? 'ipv6' : 'ipv4');
    for (const address of trusted) expect(isTrusted(address), address).toBe(true);
    for (const address of others) expect(isTrusted(address), address).toBe(false);
  });

  test.each([
    ['PUBLIC_URL', 'https://me:hunter2@pets.example'],
    ['PUBLIC_URL', 'https://hunter2@pets.example'],
    ['PUBLIC_URL', 'https://me:hunter2@[::1'],
    ['PUBLIC_URL', 'https://me:hunter2%40pets.example'],
    ['PUBLIC_URL', 'https://me:hunter2\uff20pets.example'],
    ['PUBLIC_URL', 'me:hunter2@pets.example'],
    ['CORS_ORIGIN', 'https://me:hunter2@a.example'],
    ['CORS_ORIGIN', 'https://a.example,https://me:hunter2@b.example'],
    ['TRUST_PROXY', '10.0.0.1,me:hunter2@10.0.0.2'],
    ['HOST', 'http://me:hunter2@127.0.0.1:3000'],
    ['SHUTDOWN_TIMEOUT_MS', 'me:hunter2@10'],
    ['DATABASE_URL_FILE', 'postgres://me:hunter2@db.example/pets'],
    ['API_KEYS_FILE', 'me:hunter2@x'],
  ])('refuses a password in %s=%s without showing it', (name, value) => {
    const lines = faultsOf({ [name]: value });
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(new RegExp(`^${name}: `));
    expect(lines[0]).toContain('may hold a password');
    expect(lines[0]).not.toContain('hunter2');
  });

  test('takes the address from options first, and names the options in faults', () => {
    const environment = { HOST: 'a b', PORT: 'x' };
    expect(loadConfig(environment, { host: '::1', port: '0' })).toEqual({
      ...DEFAULTS,
      host: '::1',
      port: 0,
    });
    expect(() => loadConfig({ PORT: '80' }, { host: '', port: '65536' })).toThrow(
      new ConfigError(
        "--host: expected a host name or an IP address, got ''\n--port: expected an integer from 0 to 65535, got '65536'",
      ),
    );
  });

  test('reports all faults at once, one line each', () => {
    const names = 'API_KEYS CORS_ORIGIN DATABASE_URL LOG_LEVEL PORT PUBLIC_URL SHUTDOWN_TIMEOUT_MS'.split(
      ' ',
    );
    const lines = faultsOf(Object.fromEntries(names.map((name) => [name, 'x'])));
    expect(lines.map((line) => line.split(':')[0]).toSorted()).toEqual(names);
  });

  test.each([
    ['a key that is too short', 'API_KEYS', 'hunter2-hunter2'],
    ['a short key beside a good one', 'API_KEYS', `${KEY},hunter2`],
    ['a key with a space in it', 'API_KEYS', 'hunter2 hunter2 hunter2 hunter2 hunter2'],
    ['a key beyond ASCII', 'API_KEYS', `hunter2-\u00e4${'x'.repeat(32)}`],
    ['an empty key in the list', 'API_KEYS', `${KEY},,${KEY}`],
    ['a key per line', 'API_KEYS', `hunter2-${KEY}\n${KEY}`],
    ['the same key twice', 'API_KEYS', `${KEY},${KEY}-hunter2,${KEY}`],
    ['a password in a URL', 'DATABASE_URL', 'mysql://me:hunter2@db.example/pets'],
  ])('never shows a secret: %s', (_case, name, value) => {
    for (const environment of [{ [name]: value }, { [`${name}_FILE`]: secretFile(value) }]) {
      const [line = '', ...more] = faultsOf(environment);
      expect(more).toEqual([]);
      expect(line).toMatch(new RegExp(`^${name}`));
      expect(line).toContain('expected');
      expect(line).not.toContain('hunter2');
      expect(line).not.toContain(KEY);
    }
  });

  test('reads a secret from a file, without the line feed at the end', () => {
    const database = secretFile('memory:\n');
    const keys = secretFile(`${KEY}-1,${KEY}-2\n`);
    expect(loadConfig({ DATABASE_URL_FILE: database, API_KEYS_FILE: keys })).toEqual({
      ...DEFAULTS,
      database: { scheme: 'memory', location: '', source: 'DATABASE_URL_FILE' },
      apiKeys: [`${KEY}-1`, `${KEY}-2`],
    });
  });

  test.each(['DATABASE_URL', 'API_KEYS'])(
    'refuses a file for %s that cannot be read, and names it',
    (name) => {
      const folder = temporaryFolder();
      const missing = join(folder, 'missing');
      expect(faultsOf({ [`${name}_FILE`]: missing })).toEqual([
        `${name}_FILE: the file ${missing} cannot be read`,
      ]);
      expect(faultsOf({ [`${name}_FILE`]: folder })[0]).toContain(`${name}_FILE: the file ${folder}`);
    },
  );

  test('refuses a byte order mark, which would be a part of the name of the first variable of .env', () => {
    expect(faultsOf({ '\ufeffPORT': '80' })).toEqual([
      'PORT: the file of this variable begins with a byte order mark: save it in UTF-8 without one',
    ]);
  });

  test('refuses a file .env in UTF-16, of which Node.js makes a variable with a damaged name', () => {
    const file = secretFile('');
    writeFileSync(file, Buffer.from('\ufeffPORT=80\r\nDATABASE_URL=sqlite:./pets.db\r\n', 'utf16le'));
    const print = 'console.log(JSON.stringify(process.env))';
    const output = execFileSync(process.execPath, [`--env-file=${file}`, '-e', print], {
      encoding: 'utf8',
      env: {},
    });
    expect(faultsOf(JSON.parse(output) as Record<string, string>)).toEqual([
      'a variable of the environment begins with the mark of UTF-16: save the file .env in UTF-8',
    ]);
  });

  test('refuses a secret that is set by both variables', () => {
    expect(faultsOf({ API_KEYS: KEY, API_KEYS_FILE: secretFile(KEY) })).toEqual([
      'API_KEYS_FILE: API_KEYS is set too: set one of them only',
    ]);
  });
});
