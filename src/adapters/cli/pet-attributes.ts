/** The attributes of a pet as options of commands, and as columns of a table. */

import { InvalidArgumentError, Option } from 'commander';
import { type AttributeKind, INTEGER_KINDS } from '../../domain/attribute.ts';
import {
  ATTRIBUTES,
  attributeValue,
  examplePet,
  isAlwaysStored,
  type NewPet,
  PET_ATTRIBUTES,
  type Pet,
} from '../../domain/pet.ts';
import { PET_FILTERS } from '../../domain/pet-filter.ts';
import { newPetJson } from '../../domain/pet-json.ts';
import { int64 } from './arguments.ts';

export const PET_HEAD: readonly string[] = ['ID', ...PET_ATTRIBUTES.map(headOf)];

export const EXAMPLE_JSON: string = newPetJson(examplePet() as NewPet);

/** Returns the options of `pets create`. commander stores each value under the name of the attribute. */
export function attributeOptions(names: readonly (keyof NewPet)[] = PET_ATTRIBUTES): Option[] {
  return names.map((name) => {
    const attribute = ATTRIBUTES[name];
    const flag = wordsOf(name).join('-');
    const value = INTEGER_KINDS.includes(attribute.kind) ? 'integer' : attribute.kind;
    const description = attribute.description.replace(/^./, (first) => first.toLowerCase()).slice(0, -1);
    const fallback = attribute.default === undefined ? '' : ` (default: ${attribute.default})`;
    const option = new Option(`--${flag} <${value === 'one of' ? flag : value}>`, description + fallback);
    if (attribute.kind === 'one of') option.choices(attribute.values);
    else option.argParser((text: string) => checked(name, typedValue(attribute, text)));
    return option.makeOptionMandatory(attribute.isRequired);
  });
}

/** The value of a `--no-…` option of `pets change`, which removes an optional attribute. */
export const REMOVED: unique symbol = Symbol('removed');

/** Returns the options of `pets change`. */
export function changeOptions(): Option[] {
  const removals = PET_ATTRIBUTES.flatMap((name) =>
    isAlwaysStored(name)
      ? []
      : [new Option(`--no-${wordsOf(name).join('-')}`, `remove the ${name}`).preset(REMOVED)],
  );
  const changes = attributeOptions().map((option) => {
    option.description = option.description.replace(/ \(default: .*\)$/, '');
    return option.makeOptionMandatory(false);
  });
  return [...changes, ...removals];
}

/** Returns the options that select the pets of a list or an export. Their values form a filter. */
export function filterOptions(): Option[] {
  return attributeOptions(PET_FILTERS).map((option) => {
    option.description = `only pets with this ${option.attributeName()}`;
    return option.makeOptionMandatory(false);
  });
}

export function petCells(pet: Pet): string[] {
  return [String(pet.id), ...PET_ATTRIBUTES.map((name) => String(pet[name] ?? ''))];
}

/** Returns the heading of a column. The word `id` at the end of a name, such as `ownerId`, is left out. */
function headOf(name: keyof NewPet): string {
  const words = wordsOf(name);
  return (words.at(-1) === 'id' ? words.slice(0, -1) : words).join(' ').toUpperCase();
}

function typedValue({ kind }: AttributeKind, text: string): unknown {
  if (INTEGER_KINDS.includes(kind)) return int64(text);
  return kind === 'boolean' && (text === 'true' || text === 'false') ? text === 'true' : text;
}

/** Returns the words of a name, such as `owner` and `id`. */
function wordsOf(name: keyof NewPet): string[] {
  return name.replace(/[A-Z]/g, ' $&').toLowerCase().split(' ');
}

function checked<T>(name: keyof NewPet, value: T): T {
  const { fault } = attributeValue(name, value);
  if (fault !== undefined) throw new InvalidArgumentError(fault);
  return value;
}
