import { describe, expect, test } from 'vitest';
import { isDeprecated, SUNSET, sunsetNotice } from '../../../src/adapters/http/api/deprecation.ts';

describe('the deprecated operation', () => {
  test.each([
    ['/v1/pets/1', true],
    ['/v1/pets/x?a=b', true],
    ['https://pets.example.org/v1/pets/1', true],
    ['/v1/pets', false],
    ['/v1/pets/', false],
    ['/v1/pets?after=1', false],
    ['/v1/pets/1/2', false],
    ['/docs/v1/pets/1', false],
    [undefined, false],
  ])('is recognized by the request target %s: %s', (target, expected) => {
    expect(isDeprecated(target)).toBe(expected);
  });

  test('has a notice from its sunset on', () => {
    expect(sunsetNotice(SUNSET.getTime() - 1)).toBeUndefined();
    for (const now of [SUNSET.getTime(), SUNSET.getTime() + 1]) {
      expect(sunsetNotice(now)).toBe(
        'GET /v1/pets/{petId} has passed its sunset on 2030-12-05T00:00:00.000Z',
      );
    }
  });
});
