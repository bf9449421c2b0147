/** The schemas in the OpenAPI document. The schemas of requests are derived from the schemas that validate requests. */

import { toJsonSchemaDefs } from '@valibot/to-json-schema';
import type { HttpErrorCode } from '../src/adapters/http/errors.ts';
import { ENUM_SCHEMAS, INT64_METADATA, REQUEST_SCHEMAS } from '../src/adapters/http/schemas.ts';
import { ATTRIBUTES, isAlwaysStored, PET_ATTRIBUTES } from '../src/domain/pet.ts';

/** A part of the OpenAPI document. In the JSON text, a `bigint` becomes an exact integer. */
export type Part = Readonly<Record<string, unknown>>;

type SchemaName = 'NewPet' | 'Pet' | 'Pets' | 'Error' | 'PetChange' | 'Change' | 'Changes';

const { NewPet, ListQuery, ...enums } = toJsonSchemaDefs(
  { ...ENUM_SCHEMAS, ...REQUEST_SCHEMAS },
  {
    target: 'draft-2020-12',
    typeMode: 'input',
    overrideRef: ({ referenceId }) => `#/components/schemas/${referenceId}`,
    overrideSchema: ({ valibotSchema, jsonSchema, errors }) => {
      // Valibot has no JSON Schema for a `bigint`. The metadata contains one.
      if (valibotSchema.type === 'bigint') return {};
      if (errors !== undefined) throw new Error(errors.join());
      // The default of an integer in a query is a string, like all values there. The document needs a number.
      const isNumeric = jsonSchema.type === 'integer' && typeof jsonSchema.default === 'string';
      return isNumeric ? { ...jsonSchema, default: Number(jsonSchema.default) } : jsonSchema;
    },
  },
);

const { properties = {}, ...newPet } = NewPet;

/** Only the descriptions name the defaults. Some code generators treat a member with `default` as required, even in a request. */
const newPetProperties = Object.fromEntries(
  PET_ATTRIBUTES.map((name) => {
    const { default: value, description } = ATTRIBUTES[name];
    const withDefault = { description: `${description} The default is \`${value}\`.` };
    return [name, { ...(properties[name] as Part), ...(value !== undefined && withDefault) }];
  }),
);

const pet: Part = {
  id: {
    description: 'Assigned by the service in ascending order of creation, and never assigned again.',
    ...INT64_METADATA,
  },
  ...properties,
};

const error = (codes: readonly HttpErrorCode[]): Part => ({
  code: { enum: codes, type: 'string', description: 'The kind of error, for programs.' },
  message: { type: 'string', description: 'A description for people. It names the field and the rule.' },
  status: { type: 'integer', minimum: 400, maximum: 599, description: 'The status code of the response.' },
});

/** A change can leave out any attribute. An attribute that a stored pet can lack can also be `null`. */
const petChange = Object.fromEntries(
  PET_ATTRIBUTES.map((name) => {
    const schema = properties[name] as Part;
    return [name, isAlwaysStored(name) ? schema : { anyOf: [schema, { type: 'null' }] }];
  }),
);

const cursor: Part = {
  type: 'string',
  maxLength: 64,
  description: 'An opaque text: the `after` of a page that begins after this change.',
};

const CHANGE_SCHEMAS = {
  PetChange: { type: 'object', properties: petChange },
  Change: {
    oneOf: [
      withAll({
        cursor,
        pet: ref('Pet'),
        etag: { type: 'string', description: 'The `ETag` of the pet, for `If-Match`.' },
      }),
      withAll({
        cursor,
        removed: {
          ...INT64_METADATA,
          description: 'The id of a pet that was removed. Then there is no `pet`.',
        },
      }),
    ],
  },
  Changes: { type: 'array', items: ref('Change') },
};

/** Returns the value of `components.schemas`. */
export function componentSchemas(
  codes: readonly HttpErrorCode[],
  hasChanges: boolean,
): Readonly<Record<string, object>> {
  const members = error(codes);
  return {
    ...enums,
    Pet: { type: 'object', properties: pet, required: ['id', ...PET_ATTRIBUTES.filter(isAlwaysStored)] },
    Pets: { type: 'array', items: ref('Pet') },
    Error: withAll(members),
    NewPet: { ...newPet, properties: newPetProperties },
    ...(hasChanges && CHANGE_SCHEMAS),
  };
}

/** The schemas of the query parameters of `listPets`. The keys are the names of the parameters. */
export const QUERY_SCHEMAS: Readonly<Record<string, Part>> = ListQuery.properties as Record<string, Part>;

/** Describes a body of JSON. */
export function json(schema: SchemaName, examples: Part, type = 'application/json'): Part {
  return { [type]: { schema: ref(schema), examples } };
}

/** Describes an object that has all these members. */
function withAll(properties: Part): Part {
  return { type: 'object', properties, required: Object.keys(properties) };
}

function ref(name: SchemaName): Part {
  return { $ref: `#/components/schemas/${name}` };
}
