import { expect, test } from 'vitest';
import { DOCS_ASSETS } from '../../src/adapters/http/docs/assets.ts';
import { startServer } from '../support/server.ts';

test('the page has no inline code and loads nothing from another origin', async () => {
  const { client } = await startServer('memory');
  const { body } = await client.get('/docs');
  expect(body).toMatch(/<title>Animal Store API<\/title>/);
  expect(body).not.toMatch(/<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)/);
  const targets = [...body.matchAll(/\s(?:src|href)="([^#"][^"]*)"/g)].map(([, target]) => target);
  const served = ['/openapi.json', ...DOCS_ASSETS.map(({ path }) => path)].map((path) => path.slice(1));
  expect(targets.length).toBeGreaterThan(3);
  expect(served).toEqual(expect.arrayContaining(targets));
});
