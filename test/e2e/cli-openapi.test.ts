import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { Workspace } from './workspace.ts';

const TIMEOUT = { timeout: 30_000 };

test('openapi prints the document that a server would serve, and creates no store', TIMEOUT, async () => {
  const work = new Workspace();
  const environment = { PUBLIC_URL: 'https://pets.example.org' };
  const { status, out, err } = await work.run(['openapi'], '', environment);
  expect({ status, err }).toEqual({ status: 0, err: '' });
  expect(existsSync(work.store)).toBe(false);
  const printed = JSON.parse(out);
  expect(printed.servers).toEqual([expect.objectContaining({ url: 'https://pets.example.org/v1' })]);
  const server = await work.serve(environment);
  expect(await (await fetch(`${server.origin}/openapi.json`)).json()).toEqual(printed);
});

test('openapi reports an invalid variable by name', TIMEOUT, async () => {
  const { status, out, err } = await new Workspace().run(['openapi'], '', { PUBLIC_URL: 'pets' });
  expect({ status, out }).toEqual({ status: 2, out: '' });
  expect(err).toMatch(/^animal-store: PUBLIC_URL: .*'pets'.*\n$/);
});
