/**
 * In the manuals, comments and examples of a new project, replaces the attributes of a pet with those of the project's entity.
 * Finds whole objects such as `{ name: 'Rex', categoryId: 7n }`, their JSON, and the `status` alone, as a member or in a query.
 */

import type { NamedAttribute } from '../attribute-text.ts';

const RECORD =
  /\{(?<space> ?)(?:(?<quote>"?)id"?: ?(?<id>\d+n?), ?)?"?name"?: ?['"](?<text>[^'"]*)['"], ?"?categoryId"?: ?(?<number>-?\d+)n?(?:, ?"?status"?: ?['"](?<status>\w+)['"])?(?:, ?"?\w+"?: ?(?:['"][^'"]*['"]|[\w.-]+))* ?\}/g;
const STATUSES = ['available', 'pending', 'sold'];
const STATUS = `(?<status>${STATUSES.join('|')})`;

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
  return text
    .replaceAll(RECORD, (...groups) => {
      const { space = '', id, text = '', number = '0', status } = groups.at(-1) as Record<string, string>;
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
    })
    .replaceAll(new RegExp(`(?<=\\b(?:list|export)\\w*\\()\\{ status: '${STATUS}' \\}`, 'g'), (_, status) =>
      filter === undefined ? '' : `{ ${memberOf(filter, ofStatus(status), false)} }`,
    )
    .replaceAll(new RegExp(`\\bstatus: '${STATUS}'`, 'g'), (_, status) =>
      memberOf(changed, ofStatus(status), false),
    )
    .replaceAll(new RegExp(`"status": ?"${STATUS}"`, 'g'), (_, status) =>
      memberOf(changed, ofStatus(status), true),
    )
    .replaceAll(new RegExp(`\\bstatus=${STATUS}&?`, 'g'), (parameter, status) => {
      if (filter === undefined) return '';
      const value = encodeURIComponent(String(sampleOf(filter, ofStatus(status))));
      return `${filter.name}=${value}${parameter.endsWith('&') ? '&' : ''}`;
    });
}

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
