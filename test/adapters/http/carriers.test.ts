/** What the API decides for all carriers is what the libraries of Koa decide. */

import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import fc from 'fast-check';
import Koa from 'koa';
import { expect, test } from 'vitest';
import { prefersHtml } from '../../../src/adapters/http/api/accept.ts';
import { matchTemplates } from '../../../src/adapters/http/api/path-templates.ts';
import { createMatcher } from '../../../src/adapters/http/koa/router.ts';
import { runs } from '../../support/property-runs.ts';

function koaPrefersHtml(accept: string): boolean {
  const req = new IncomingMessage(new Socket());
  req.headers.accept = accept;
  const ctx = new Koa().createContext(req, new ServerResponse(req));
  return ctx.accepts('application/json', 'text/html') === 'text/html';
}

test('HTML is preferred to JSON whenever Koa prefers it', () => {
  const type = fc.constantFrom('text', 'application', '*', 'TEXT', 'image', '');
  const subtype = fc.constantFrom('html', 'json', '*', 'Json', 'xhtml+xml', '');
  const parameter = fc.oneof(
    fc.constantFrom('q=0', 'q=1', 'q=0.5', 'Q=.7', 'q=1.0', 'q=x', 'q', 'charset=utf-8'),
    fc.constantFrom('a="b,c"', 'a="text/html,"', 'a=";q=0"'),
  );
  const range = fc
    .tuple(type, subtype, fc.array(parameter, { maxLength: 2 }), fc.constantFrom(';', '; ', ' ;'))
    .map(([left, right, parameters, semicolon]) => [`${left}/${right}`, ...parameters].join(semicolon));
  const accept = fc
    .tuple(fc.array(fc.oneof(range, fc.string()), { maxLength: 5 }), fc.constantFrom(',', ', ', ' , '))
    .map(([ranges, comma]) => ranges.join(comma));
  fc.assert(
    fc.property(accept, (text) => {
      expect(prefersHtml(text)).toBe(koaPrefersHtml(text));
    }),
    runs(1000),
  );
  expect(prefersHtml()).toBe(false);
});

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
