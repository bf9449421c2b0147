/** What the API decides for all carriers is what the libraries of Koa decide. */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { matchTemplates } from '../../../src/adapters/http/api/path-templates.ts';
import { createMatcher } from '../../../src/adapters/http/koa/router.ts';
import { runs } from '../../support/property-runs.ts';

test('a path matches a template whenever the router of Koa finds it, with the same values', () => {
  const templates = ['/v1/pets/{petId}', '/v1/{kind}/{id}/photos'];
  const [own, koa] = [matchTemplates(templates), createMatcher(templates)];
  const segment = fc.oneof(
    fc.constantFrom(
      'v1',
      'V1',
      'pets',
      'photos',
      '',
      '.',
      '%41',
      '%zz',
      '%E0%A4',
      '%2F',
      '%',
      'a b',
      '\u00e4',
      '$&',
    ),
    fc.webSegment(),
  );
  const path = fc.oneof(
    segment.map((id) => `/v1/pets/${id}`),
    fc.tuple(segment, segment).map(([kind, id]) => `/v1/${kind}/${id}/photos`),
    fc.array(segment, { maxLength: 5 }).map((segments) => `/${segments.join('/')}`),
  );
  fc.assert(
    fc.property(path, (text) => {
      expect(own(text)).toEqual(koa(text));
    }),
    runs(1000),
  );
});
