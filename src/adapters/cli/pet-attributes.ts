/** The attributes of a pet as options of `pets create`, and as columns of a table. */

import { InvalidArgumentError, Option } from 'commander';
import { type AttributeKind, INTEGER_KINDS } from '../../domain/attribute.ts';
import {
  ATTRIBUTES,
  attributeFault,
  isAlwaysStored,
  type NewPet,
  PET_ATTRIBUTES,
  type Pet,
} from '../../domain/pet.ts';
import { newPetJson } from '../../domain/pet-json.ts';
import { int64 } from './arguments.ts';

/** The words of the name of each attribute, such as `category` and `id`. */
const WORDS = PET_ATTRIBUTES.map((name) => name.replace(/[A-Z]/g, ' $&').toLowerCase().split(' '));

export const PET_HEAD: readonly string[] = ['ID', ...WORDS.map(headOf)];

/** A pet in JSON that has the required attributes alone. */
export const EXAMPLE_JSON: string = newPetJson(
  Object.fromEntries(
    PET_ATTRIBUTES.filter((name) => ATTRIBUTES[name].isRequired).map((name) => [
      name,
      ATTRIBUTES[name].example,
    ]),
  ) as Partial<NewPet> as NewPet,
);

/** The options of `pets create`. Their values have the names of the attributes. */
export function attributeOptions(): Option[] {
  return PET_ATTRIBUTES.map((name, index) => {
    const attribute = ATTRIBUTES[name];
    const flag = WORDS[index]?.join('-');
    const value = INTEGER_KINDS.includes(attribute.kind) ? 'integer' : attribute.kind;
    const description = attribute.description.replace(/^./, (first) => first.toLowerCase()).slice(0, -1);
    const fallback = attribute.default === undefined ? '' : ` (default: ${attribute.default})`;
    const option = new Option(`--${flag} <${value === 'one of' ? flag : value}>`, description + fallback);
    if (attribute.kind === 'one of') option.choices(attribute.values);
    else option.argParser((text: string) => checked(name, typedValue(attribute, text)));
    return option.makeOptionMandatory(attribute.isRequired);
  });
}

/** The value of the options of `pets change` that remove an optional attribute. */
export const REMOVED: unique symbol = Symbol('removed');

/** The options of `pets change`. */
export function changeOptions(): Option[] {
  const removals = PET_ATTRIBUTES.flatMap((name, index) =>
    isAlwaysStored(name)
      ? []
      : [new Option(`--no-${WORDS[index]?.join('-')}`, `remove the ${name}`).preset(REMOVED)],
  );
  const changes = attributeOptions().map((option) => {
    option.description = option.description.replace(/ \(default: .*\)$/, '');
    return option.makeOptionMandatory(false);
  });
  return [...changes, ...removals];
}

export function petCells(pet: Pet): string[] {
  return [String(pet.id), ...PET_ATTRIBUTES.map((name) => String(pet[name] ?? ''))];
}

/** The column of a reference has the name of what it refers to. */
function headOf(words: readonly string[]): string {
  return (words.at(-1) === 'id' ? words.slice(0, -1) : words).join(' ').toUpperCase();
}

function typedValue({ kind }: AttributeKind, text: string): unknown {
  if (INTEGER_KINDS.includes(kind)) return int64(text);
  return kind === 'boolean' && (text === 'true' || text === 'false') ? text === 'true' : text;
}

function checked<T>(name: keyof NewPet, value: T): T {
  const fault = attributeFault(name, value);
  if (fault !== undefined) throw new InvalidArgumentError(fault);
  return value;
}
