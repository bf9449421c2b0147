/** Each rule of each attribute, over HTTP: 400 with the name of the attribute, and nothing is stored. */

import { describe, expect, test } from 'vitest';
import { isAlwaysStored } from '../../../src/domain/pet.ts';
import { newPetJson } from '../../../src/domain/pet-json.ts';
import { CHANGING } from '../../support/lifecycle.ts';
import { INVALID_VALUES, invalidJson, REX } from '../../support/pets.ts';
import { sharedServer } from '../../support/server.ts';

describe('invalid records', () => {
  const served = sharedServer('memory', CHANGING);
  const invalid = (name: string) => ({
    status: 400,
    body: expect.stringMatching(new RegExp(`^\\{"code":"invalid_request","message":"${name} [^;"]+"`)),
  });

  test('a create stores nothing', async () => {
    for (const each of INVALID_VALUES)
      expect(await served.client.post(invalidJson(each)), each.rule).toMatchObject(invalid(each.name));
    expect(await served.client.get('/v1/pets')).toMatchObject({ body: '[]' });
  });

  test('a change changes nothing', async () => {
    const { body } = await served.client.post(newPetJson(REX));
    const { id } = JSON.parse(body);
    const changes = INVALID_VALUES.filter(
      ({ name, value }) => value !== undefined && (value !== null || isAlwaysStored(name)),
    );
    for (const each of changes) {
      const headers = { 'Content-Type': 'application/merge-patch+json', 'If-Match': '*' };
      const answer = await served.client.request('PATCH', `/v1/pets/${id}`, {
        body: invalidJson(each),
        headers,
      });
      expect(answer, `${each.name} ${each.rule}`).toMatchObject(invalid(each.name));
    }
    expect(await served.client.get(`/v1/pets/${id}`)).toMatchObject({ body });
  });
});
