import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ConfigError, type Environment } from '../../src/composition/config/settings.ts';
import { describeSettings, loadConfig, shownSettings } from '../../src/composition/config.ts';
import { temporaryFolder } from '../support/process.ts';

const KEY = 'operator-key-of-32-characters-or-more';
const DEFAULTS = {
  host: '127.0.0.1',
  port: 3000,
  database: { scheme: 'sqlite', location: './data/animal-store.db', source: 'the default store' },
  apiKeys: [],
  firstKey: 'print',
  logLevel: 'info',
  shutdownTimeout: 10_000,
  idempotencyDays: 1,
  http: {
    publicUrl: undefined,
    corsOrigins: undefined,
    trustedProxies: 0,
    rateLimit: undefined,
    maxConnections: undefined,
  },
};

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
    ...[
      'capacitor://localhost',
      'tauri://localhost',
      'chrome-extension://abcdef',
      'vscode-webview://a-1',
    ].map((origin) => ['CORS_ORIGIN', origin, { http: { corsOrigins: [origin] } }] as const),
    ['TRUST_PROXY', '0', { http: { trustedProxies: 0 } }],
    ['TRUST_PROXY', '2', { http: { trustedProxies: 2 } }],
    ['RATE_LIMIT', '600/min', { http: { rateLimit: { requests: 600, seconds: 60 } } }],
    ['SHUTDOWN_TIMEOUT_MS', '0', { shutdownTimeout: 0 }],
    ['SHUTDOWN_TIMEOUT_MS', '2147483647', { shutdownTimeout: 2_147_483_647 }],
    ['MAX_CONNECTIONS', '1', { http: { maxConnections: 1 } }],
    ['IDEMPOTENCY_DAYS', '1', { idempotencyDays: 1 }],
    ['IDEMPOTENCY_DAYS', '90', { idempotencyDays: 90 }],
    ['FIRST_KEY', 'print', { firstKey: 'print' }],
    ['FIRST_KEY', 'none', { firstKey: 'none' }],
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
    ['PUBLIC_URL', 'an http or https URL', 'pets.example|ftp://pets.example|https://pets.example:99999'],
    ['PUBLIC_URL', 'an http or https URL without', 'https://pets.example?x=1|https://pets.example#x'],
    [
      'CORS_ORIGIN',
      'origins such as https://example.org or capacitor://localhost, without wildcards',
      '*|null|https://a.example/|https://*.a.b|capacitor://localhost/x|capacitor:localhost|HTTPS://a.b|https://a:443|https://a?b|https://a#b',
    ],
    ['TRUST_PROXY', 'the number of proxies in front of the server, from 0 to 100', '-1|1.5|101|true| |1e1'],
    [
      'TRUST_PROXY',
      'the number of proxies in front of the server, from 0 to 100 (it is no',
      '10.0.0.0/8|::1|10.0.0.1,10.0.0.2',
    ],
    [
      'RATE_LIMIT',
      'a number of requests from 1 to 999999 per s, min or h, such as 100/s',
      '100|0/s|1/d|1.5/s',
    ],
    ['SHUTDOWN_TIMEOUT_MS', 'an integer from 0 to 2147483647', '10s|2147483648'],
    ['MAX_CONNECTIONS', 'an integer from 1 to 1000000', '0|auto'],
    ['FIRST_KEY', 'print or none', '/run/first-key|NONE'],
    ['FIRST_KEY', 'print or none (with none, keys create', 'file:/run/first-key'],
  ];

  test.each([
    ...WRONG.flatMap(([name, expected, values]) => values.split('|').map((value) => [name, value, expected])),
    ['CORS_ORIGIN', 'https://a.example,,https://b.example', 'origins such as https://example.org or', ''],
    ['CORS_ORIGIN', 'https://a.example, x', 'origins such as https://example.org or', 'x'],
  ])(
    'refuses %s=%s, and says what was expected and what it got',
    (name = '', value = '', expected = '', got = value) => {
      const lines = faultsOf({ [name]: value });
      expect(lines).toHaveLength(1);
      expect(lines[0]).toContain(`${name}: expected ${expected}`);
      expect(lines[0]).toContain(`, got '${got}'`);
    },
  );

  test('stops at a variable of an older release, and says what to use instead', () => {
    expect(faultsOf({ WORKERS: '2', LOG_SAMPLE: '1/100' })).toEqual([
      expect.stringMatching(
        /^WORKERS: this variable is gone: start several servers of one store behind a proxy/,
      ),
      expect.stringMatching(/^LOG_SAMPLE: this variable is gone: set LOG_LEVEL to warn/),
    ]);
    expect(loadConfig({ WORKERS: '', LOG_SAMPLE: '' })).toEqual(DEFAULTS);
  });

  test('describes each variable: its type, its default and its meaning', () => {
    const described = describeSettings();
    expect(described.map(({ name }) => name)).toEqual([
      ...'HOST PORT DATABASE_URL API_KEYS LOG_LEVEL PUBLIC_URL CORS_ORIGIN SHUTDOWN_TIMEOUT_MS'.split(' '),
      ...'MAX_CONNECTIONS RATE_LIMIT TRUST_PROXY IDEMPOTENCY_DAYS FIRST_KEY'.split(' '),
    ]);
    expect(described).toContainEqual({
      name: 'PORT',
      type: 'an integer from 0 to 65535',
      fallback: '3000',
      meaning: 'the port to listen on; 0 takes a free one',
    });
    for (const { type, meaning } of described) expect([type, meaning]).not.toContain('');
    const defaults = described.flatMap(({ name, fallback }) =>
      fallback === undefined ? [] : [[name, fallback]],
    );
    const { database: _, ...others } = loadConfig(Object.fromEntries(defaults));
    const { database: __, ...expected } = DEFAULTS;
    expect(others).toEqual(expected);
  });

  test('shows the variables that are set, and no secret', () => {
    const environment = {
      PORT: '80',
      HOST: '',
      API_KEYS: KEY,
      DATABASE_URL_FILE: '/x',
      PUBLIC_URL: 'a:b@c',
      WORKERS: '2',
    };
    expect(shownSettings(environment)).toEqual([
      { name: 'PORT', value: '80' },
      { name: 'DATABASE_URL_FILE', value: '(not shown)' },
      { name: 'API_KEYS', value: '(not shown)' },
      { name: 'PUBLIC_URL', value: '(not shown)' },
    ]);
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
    ['TRUST_PROXY', 'me:hunter2@10.0.0.2'],
    ['HOST', 'http://me:hunter2@127.0.0.1:3000'],
    ['SHUTDOWN_TIMEOUT_MS', 'me:hunter2@10'],
    ['DATABASE_URL_FILE', 'postgres://me:hunter2@db.example/pets'],
    ['API_KEYS_FILE', 'me:hunter2@x'],
  ])('refuses a password in %s=%s without showing it', (name, value) => {
    const lines = faultsOf({ [name]: value });
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(new RegExp(`^${name}: `));
    expect(lines[0]).toMatch(/may hold a password/);
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

  test('has one line for a value with a line feed', () => {
    expect(faultsOf({ HOST: 'a\nb' })).toEqual([
      "HOST: expected a host name or an IP address, got 'a\\u000ab'",
    ]);
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
      '.env: the file begins with a byte order mark: save it in UTF-8 without one',
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
      '.env: the file begins with a byte order mark: save it in UTF-8 without one',
    ]);
  });

  test('refuses a secret that is set by both variables', () => {
    expect(faultsOf({ API_KEYS: KEY, API_KEYS_FILE: secretFile(KEY) })).toEqual([
      'API_KEYS_FILE: API_KEYS is set too: set one of them only',
    ]);
  });
});
