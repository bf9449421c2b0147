/** The schemas in the OpenAPI document, derived from the schemas that validate requests. */

import { toJsonSchema, toJsonSchemaDefs } from '@valibot/to-json-schema';
import * as v from 'valibot';
import { DEFAULT_STATUS } from '../../../domain/pet.ts';
import { STATUS_OF } from '../api/errors.ts';
import { INT64_METADATA, REQUEST_SCHEMAS } from '../api/schemas.ts';

/** A part of the OpenAPI document. In the JSON text, a `bigint` becomes an exact integer. */
export type Part = Readonly<Record<string, unknown>>;

export type SchemaName = 'PetStatus' | 'NewPet' | 'Pet' | 'Pets' | 'Error';

type Config = NonNullable<Parameters<typeof toJsonSchema>[1]>;

const { PetStatus, NewPet, ListQuery } = REQUEST_SCHEMAS;

const Pet = v.object({
  id: v.pipe(
    v.bigint(),
    v.metadata({
      ...INT64_METADATA,
      description: 'Assigned by the service in ascending order of creation, and never assigned again.',
    }),
  ),
  ...NewPet.entries,
  status: PetStatus,
});

const ErrorBody = v.object({
  code: v.pipe(v.picklist(Object.keys(STATUS_OF)), v.description('The kind of error, for programs.')),
  message: v.pipe(v.string(), v.description('A description for people. It names the field and the rule.')),
  status: v.pipe(
    v.number(),
    v.integer(),
    v.minValue(400),
    v.maxValue(599),
    v.description('The status code of the response.'),
  ),
});

const DEFINITIONS: Readonly<Record<SchemaName, v.GenericSchema>> = {
  PetStatus,
  NewPet,
  Pet,
  Pets: v.array(Pet),
  Error: ErrorBody,
};

const CONFIG: Config = {
  target: 'draft-2020-12',
  typeMode: 'input',
  definitions: DEFINITIONS,
  overrideRef: ({ referenceId }) => `#/components/schemas/${referenceId}`,
  overrideSchema: ({ valibotSchema, jsonSchema, errors }) => {
    switch (valibotSchema.type) {
      case 'bigint':
      case 'custom':
        return {};
      case 'optional':
        return { ...jsonSchema, ...integerDefault({ ...jsonSchema }) };
      default:
        if (errors !== undefined) throw new Error(errors.join());
        return jsonSchema;
    }
  },
};

/**
 * Returns the value of `components.schemas`. In the schema `NewPet`, the member `status` has no `default`. With a
 * `default`, code generators would require `status` in requests.
 */
export function componentSchemas(): Part {
  const { NewPet: newPet, ...others } = toJsonSchemaDefs(DEFINITIONS, CONFIG);
  const { properties, ...rest } = newPet as { properties: Part };
  const status = {
    $ref: ref('PetStatus'),
    description: `The default is \`${DEFAULT_STATUS}\`.`,
  };
  return { ...others, NewPet: { ...rest, properties: { ...properties, status } } };
}

/** Returns the schemas of the query parameters of `listPets`. The keys are the names of the parameters. */
export function queryParameterSchemas(): Readonly<Record<string, Part>> {
  return Object.fromEntries(
    Object.entries(ListQuery.entries).map(([name, schema]) => {
      const { $schema, $defs, ...jsonSchema } = toJsonSchema(schema, CONFIG);
      return [name, jsonSchema];
    }),
  );
}

export function ref(name: SchemaName): string {
  return `#/components/schemas/${name}`;
}

/**
 * Returns the `default` of an integer parameter as an integer. In the Valibot schema, the default is a string, because
 * all values in a query are strings.
 */
function integerDefault(jsonSchema: Part): Part {
  const { type, default: value } = jsonSchema;
  return type === 'integer' && typeof value === 'string' ? { default: Number(value) } : {};
}
