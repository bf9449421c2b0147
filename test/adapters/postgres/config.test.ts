import { expect, test } from 'vitest';
import { clientConfig } from '../../../src/adapters/postgres/config.ts';

test.each([
  ['postgres://localhost/pets', 1000, 1000],
  ['postgres://localhost/pets?query_timeout=250', 250, 250],
  ['postgres://localhost/pets?sslmode=disable&query_timeout=5000', 5000, 5000],
  ['postgres://localhost/pets?query_timeout=0', 0, 1000],
  ['postgres://localhost/pets?query_timeout=9&query%5Ftimeout=250', 250, 250],
  ['postgres://localhost/pets?query_timeout=soon', 1000, 1000],
  ['postgres://localhost/pets?application_name=query_timeout=250', 1000, 1000],
])('%s: a query may take %i ms, and a call may wait for %i ms', (url, query, wait) => {
  expect(clientConfig(url)).toMatchObject({ query_timeout: query, connectionTimeoutMillis: wait });
});

test.each([
  ['', ''],
  ['?query_timeout=250', ''],
  ['?query_timeout=250&sslmode=disable', '?sslmode=disable'],
  ['?host=%2Ftmp&query%5Ftimeout=250&options=-c%20a%3Db', '?host=%2Ftmp&options=-c%20a%3Db'],
  ['?sslmode=disable', '?sslmode=disable'],
])('the driver reads %s as %s: no deadline of the URL replaces one of the code', (query, read) => {
  const { connectionString } = clientConfig(`postgres://a:b%3Fc@localhost/pets${query}`);
  expect(connectionString).toBe(`postgres://a:b%3Fc@localhost/pets${read}`);
});

test.each([
  ['', 16],
  ['?max=4', 4],
  ['?max=0', 1],
  ['?max=many', 16],
  ['?application_name=x&max=7&max=9', 9],
])('the parameter max limits the connections for reads: %j', (query, expected) => {
  const { connectionString, maxReads } = clientConfig(`postgres://localhost/pets${query}`);
  expect(maxReads).toBe(expected);
  expect(connectionString).not.toContain('max=');
});
