/**
 * In the manuals, comments and examples of a new project, replaces the attributes of a pet with those of the project's entity.
 * Finds whole objects such as `{ name: 'Rex', categoryId: 7n }`, their JSON, and a separate `status`, as a member or in a query.
 */

import type { NamedAttribute } from '../attribute-text.ts';

const RECORD =
  /\{(?<space> ?)(?:(?<quote>"?)id"?: ?(?<id>\d+n?), ?)?"?name"?: ?['"](?<text>[^'"]*)['"], ?"?categoryId"?: ?(?<number>-?\d+)n?(?:, ?"?status"?: ?['"](?<status>\w+)['"])?(?:, ?"?\w+"?: ?(?:['"][^'"]*['"]|[\w.-]+))* ?\}/;
const STATUSES = ['available', 'pending', 'sold'];
const STATUS = `(?:${STATUSES.join('|')})`;
/** Matches all places with one pattern, so that the text of one replacement is not replaced by another. */
const PLACE = new RegExp(
  [
    RECORD.source,
    `(?<=\\b(?:list|export)\\w*\\()\\{ status: '(?<listed>${STATUS})' \\}`,
    `\\bstatus: '(?<member>${STATUS})'`,
    `"status": ?"(?<json>${STATUS})"`,
    `\\bstatus=(?<parameter>${STATUS})(?<next>&?)`,
  ].join('|'),
  'g',
);

interface Given {
  readonly text: string;
  readonly number: bigint;
  readonly status: number;
}

/** Returns the text with these attributes instead of the attributes of a pet. */
export function withRecords(text: string, attributes: readonly NamedAttribute[]): string {
  const [first] = attributes as [NamedAttribute];
  const changed = attributes.find(({ attribute }) => attribute.kind === 'one of') ?? first;
  const filter = attributes.find(({ attribute }) => attribute.filter);
  const hasRequired = attributes.some(({ attribute }) => attribute.isRequired);
  const memberOf = (each: NamedAttribute, given: Given, isJson: boolean): string =>
    isJson
      ? `"${each.name}":${literal(each, given, isJson)}`
      : `${each.name}: ${literal(each, given, isJson)}`;
  const ofStatus = (status: string): Given => ({
    text: status,
    number: BigInt(STATUSES.indexOf(status)),
    status: STATUSES.indexOf(status),
  });
  const recordOf = ({ space = '', id, text = '', number = '0', status }: Groups): string => {
    const isJson = space === '';
    const given = { text, number: BigInt(number), status: STATUSES.indexOf(status ?? 'available') };
    const has = (each: NamedAttribute): boolean =>
      each.attribute.isRequired ||
      (each === first && !hasRequired) ||
      (each === changed && status !== undefined) ||
      (id !== undefined && each.attribute.default !== undefined);
    const members = attributes.filter(has).map((each) => memberOf(each, given, isJson));
    if (id !== undefined) members.unshift(isJson ? `"id":${id}` : `id: ${id}`);
    return `{${space}${members.join(isJson ? ',' : ', ')}${space}}`;
  };
  return text.replaceAll(PLACE, (...found) => {
    const groups = found.at(-1) as Groups;
    const { listed, member, json, parameter, next = '' } = groups;
    if (member !== undefined) return memberOf(changed, ofStatus(member), false);
    if (json !== undefined) return memberOf(changed, ofStatus(json), true);
    if (listed === undefined && parameter === undefined) return recordOf(groups);
    if (filter === undefined) return '';
    if (listed !== undefined) return `{ ${memberOf(filter, ofStatus(listed), false)} }`;
    const value = encodeURIComponent(String(sampleOf(filter, ofStatus(parameter as string))));
    return `${filter.name}=${value}${next}`;
  });
}

type Groups = Readonly<Record<string, string | undefined>>;

function sampleOf({ attribute }: NamedAttribute, { text, number, status }: Given): unknown {
  switch (attribute.kind) {
    case 'text':
      return [...text].slice(0, attribute.maxLength).join('').padEnd(attribute.minLength, 'x');
    case 'one of':
      return attribute.values[status % attribute.values.length];
    case 'boolean':
      return status % 2 === 1;
    case 'timestamp':
      return attribute.example;
    default:
      return number < attribute.min ? attribute.min : number > attribute.max ? attribute.max : number;
  }
}

function literal(each: NamedAttribute, given: Given, isJson: boolean): string {
  const value = sampleOf(each, given);
  if (typeof value === 'string') return isJson ? JSON.stringify(value) : `'${value}'`;
  return `${value}${each.attribute.kind === 'int64' && !isJson ? 'n' : ''}`;
}
