/** What the API decides for all carriers is what @koa/router decides. */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Context } from '../../../src/adapters/http/api/context.ts';
import type { CreateRouter, Endpoint } from '../../../src/adapters/http/api/routes.ts';
import { FETCH_CARRIER } from '../../../src/adapters/http/fetch/handler.ts';
import { KOA_CARRIER } from '../../../src/adapters/http/koa/carrier.ts';
import { runs } from '../../support/property-runs.ts';

const METHODS = [['GET'], ['POST'], []] as const;

/** Returns a function that returns which route handles a request, with which parameters, and what is known of the path. */
function routing(create: CreateRouter, templates: readonly string[]) {
  let handled: unknown[] = [];
  const endpoints: Endpoint[] = templates.flatMap((path, index) =>
    METHODS.slice(0, index + 1).map(([method]) => ({
      path,
      ...(method && { method }),
      handlers: [(_: Context, next) => next(), (ctx: Context) => void handled.push(path, method, ctx.params)],
    })),
  );
  const router = create(endpoints);
  return async (path: string, method = 'GET') => {
    handled = [];
    const ctx = { path, method, host: '', request: {}, params: {}, state: { animalStore: { path } } };
    await router(ctx as unknown as Context, async () => void handled.push('next'));
    const { matched = [] } = ctx as unknown as Context;
    return { handled, matched: matched.map(({ name }) => name) };
  };
}

test('requests over fetch have the route that @koa/router finds, with the same values', async () => {
  const templates = ['/v1/pets/{petId}', '/v1/{kind}/{id}/photos', '/'];
  const [own, koa] = [
    routing(FETCH_CARRIER.createRouter, templates),
    routing(KOA_CARRIER.createRouter, templates),
  ];
  const segment = fc.oneof(
    fc.constantFrom('a b', ...'v1 V1 pets photos  . %41 %zz %E0%A4 %2F % \u00e4 $&'.split(' ')),
    fc.webSegment(),
  );
  const path = fc.oneof(
    segment.map((id) => `/v1/pets/${id}`),
    fc.tuple(segment, segment).map(([kind, id]) => `/v1/${kind}/${id}/photos`),
    fc.array(segment, { maxLength: 5 }).map((segments) => `/${segments.join('/')}`),
  );
  await fc.assert(
    fc.asyncProperty(path, fc.constantFrom('GET', 'HEAD', 'POST', 'PUT'), async (text, method) => {
      expect(await own(text, method)).toEqual(await koa(text, method));
    }),
    runs(1000),
  );
});
