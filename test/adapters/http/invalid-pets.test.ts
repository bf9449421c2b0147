/** Each rule of each attribute, whatever the attributes are. */

import { expect, test } from 'vitest';
import { CHANGING } from '../../support/lifecycle.ts';
import { INVALID_PETS, REX_JSON } from '../../support/pets.ts';
import { sharedServer } from '../../support/server.ts';

const server = sharedServer('memory', CHANGING);

test('a pet that breaks a rule is refused, and so is a change to it, with a message that names the rule', async () => {
  await server.client.post(REX_JSON);
  const headers = { 'Content-Type': 'application/json', 'If-Match': '*' };
  for (const { name, value, json, message } of INVALID_PETS) {
    const answers = [await server.client.post(json)];
    const body = `{"${name}":${value}}`;
    // In a change, `null` removes an attribute.
    if (value !== undefined && value !== 'null')
      answers.push(await server.client.request('PATCH', '/v1/pets/1', { headers, body }));
    for (const { body: error } of answers) {
      const { message: told, ...others } = JSON.parse(error);
      expect([json, others]).toEqual([json, { code: 'invalid_request', status: 400 }]);
      expect(told.startsWith(message) && !told.includes('; '), `${json}: ${told}`).toBe(true);
    }
  }
  expect((await server.client.get('/v1/pets')).body).toBe(`[${REX_JSON.replace('{', '{"id":1,')}]`);
});
