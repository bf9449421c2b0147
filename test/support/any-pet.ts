/** Random pets, whatever attributes they have. */

import fc from 'fast-check';
import type { Attribute } from '../../src/domain/attribute.ts';
import { ATTRIBUTES, isAccepted, type NewPet, PET_ATTRIBUTES } from '../../src/domain/pet.ts';
import { TIMESTAMP_MAX, TIMESTAMP_MIN } from '../../src/domain/timestamp.ts';
import { codePoint } from './code-points.ts';

function arbitrary(attribute: Attribute): fc.Arbitrary<unknown> {
  switch (attribute.kind) {
    case 'text': {
      const { minLength, maxLength } = attribute;
      return fc.string({ unit: codePoint, minLength, maxLength }).filter((text) => !text.includes('\0'));
    }
    case 'one of':
      return fc.constantFrom(...attribute.values);
    case 'int64':
      return fc.bigInt(attribute);
    case 'integer':
      return fc.integer(attribute);
    case 'boolean':
      return fc.boolean();
    default: {
      const [min, max] = [new Date(TIMESTAMP_MIN), new Date(TIMESTAMP_MAX)];
      return fc.date({ min, max, noInvalidDate: true }).map((date) => date.toISOString());
    }
  }
}

/** A new pet, as a client gives it: each attribute that is not required can be missing. */
export const anyNewPet: fc.Arbitrary<NewPet> = (
  fc.record(
    Object.fromEntries(
      PET_ATTRIBUTES.map((name) => [
        name,
        ATTRIBUTES[name].isRequired
          ? arbitrary(ATTRIBUTES[name])
          : fc.option(arbitrary(ATTRIBUTES[name]), { nil: undefined }),
      ]),
    ),
  ) as fc.Arbitrary<unknown> as fc.Arbitrary<NewPet>
).filter(isAccepted);
