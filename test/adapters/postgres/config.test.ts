import { expect, test } from 'vitest';
import { clientConfig } from '../../../src/adapters/postgres/config.ts';

test.each([
  ['postgres://localhost/pets', 1000, 1000, 16],
  ['postgres://localhost/pets?query_timeout=250', 250, 250, 16],
  ['postgres://localhost/pets?max=4&query%5Ftimeout=5000', 5000, 5000, 4],
  ['postgres://localhost/pets?query_timeout=0', 0, 1000, 16],
  ['postgres://localhost/pets?application_name=query_timeout%3D250', 1000, 1000, 16],
])(
  '%s: a query may take %i ms, a call may wait for %i ms, and there are %i connections',
  (url, query, wait, reads) => {
    expect(clientConfig(url)).toMatchObject({
      query_timeout: query,
      connectionTimeoutMillis: wait,
      max: reads,
    });
  },
);

test('the driver gets no URL, so that it prints no warning about sslmode, and reads no password elsewhere', () => {
  const config = clientConfig('postgres://me@localhost/pets?sslmode=require&options=-c%20a%3Db&host=%2Ftmp');
  expect(config).toMatchObject({
    user: 'me',
    host: '/tmp',
    ssl: { rejectUnauthorized: true },
    options: '-c a=b',
    database: 'pets',
  });
  expect(config.connectionString).toBeUndefined();
  expect(config.password).toThrow('the database server asks for a password, and the URL has none');
  expect(clientConfig('postgres://localhost/pets?sslmode=no-verify').ssl).toEqual({
    rejectUnauthorized: false,
  });
  expect(clientConfig('postgres://localhost/pets').ssl).toBe(false);
});
