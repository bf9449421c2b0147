/** The schemas of the OpenAPI document, made from those that validate. */

import { toJsonSchema, toJsonSchemaDefs } from '@valibot/to-json-schema';
import * as v from 'valibot';
import { DEFAULT_STATUS } from '../../domain/pet.ts';
import { STATUS_OF } from './errors.ts';
import { INT64_METADATA, REQUEST_SCHEMAS } from './schemas.ts';

/** A part of the document. A `bigint` stands for an integer that a double cannot hold. */
export type Part = Readonly<Record<string, unknown>>;

export type SchemaName = 'PetStatus' | 'NewPet' | 'Pet' | 'Pets' | 'Error';

type Config = NonNullable<Parameters<typeof toJsonSchema>[1]>;

const { PetStatus, NewPet, ListQuery } = REQUEST_SCHEMAS;

const Pet = v.object({
  id: v.pipe(
    v.bigint(),
    v.metadata({
      ...INT64_METADATA,
      description: 'Given by the service in ascending order of creation, and never given again.',
    }),
  ),
  ...NewPet.entries,
  status: PetStatus,
});

const ErrorBody = v.object({
  code: v.pipe(v.picklist(Object.keys(STATUS_OF)), v.description('What went wrong, for programs.')),
  message: v.pipe(v.string(), v.description('What went wrong, for people. It names the field and the rule.')),
  status: v.pipe(
    v.number(),
    v.integer(),
    v.minValue(400),
    v.maxValue(599),
    v.description('The status of the answer.'),
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

/** `components.schemas`. A `default` in a body would make code generators ask for the member. */
export function componentSchemas(): Part {
  const { NewPet: newPet, ...others } = toJsonSchemaDefs(DEFINITIONS, CONFIG);
  const { properties, ...rest } = newPet as { properties: Part };
  const status = {
    $ref: ref('PetStatus'),
    description: `Stored and answered as \`${DEFAULT_STATUS}\` when it is left out.`,
  };
  return { ...others, NewPet: { ...rest, properties: { ...properties, status } } };
}

/** The schema of each parameter of the list's query, by name. */
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

/** A query is text, and so is its default; the document tells what the text means. */
function integerDefault(jsonSchema: Part): Part {
  const { type, default: value } = jsonSchema;
  return type === 'integer' && typeof value === 'string' ? { default: Number(value) } : {};
}
