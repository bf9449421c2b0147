/** The pictures that a script draws are up to date, have a description, and show the middleware of the API. */

import { describe, expect, test } from 'vitest';
import { diagrams, STAGES } from '../../scripts/diagrams.ts';
import { DOCUMENTS, MANUALS, read, stagesOfApi } from './manuals.ts';

describe.each([...diagrams()])('docs/images/%s', (name, svg) => {
  test('is up to date: npm run diagrams', () => expect(read(`docs/images/${name}`)).toBe(svg));

  test('has a description, a dark variant, and no text outside of it', () => {
    expect(svg).toMatch(/<title>[^<]{40,}<\/title>/);
    expect(svg).toContain('prefers-color-scheme: dark');
    const [, width] = /viewBox="0 0 (\d+)/.exec(svg) ?? [];
    const positions = [...svg.matchAll(/<text x="(\d+)"/g)].map(([, x]) => Number(x));
    expect(Math.max(...positions)).toBeLessThan(Number(width));
  });

  test('is shown in one manual', () => {
    expect(MANUALS.filter((manual) => read(manual).includes(`](images/${name})`))).toHaveLength(1);
  });
});

test('the picture of a request has the stages of the API', () => {
  expect(STAGES.map(([name]) => name)).toEqual(stagesOfApi());
});

test.each(DOCUMENTS)('each picture in %s has a description', (document) => {
  const pictures = [...read(document).matchAll(/!\[([^\]]*)\]\(/g)].map(([, text = '']) => text);
  expect(pictures.filter((text) => text.length < 20)).toEqual([]);
});
