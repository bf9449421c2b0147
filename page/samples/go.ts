import type { Schema } from '../openapi.ts';
import { schemaName } from '../reference.ts';
import type { SampleOptions, SampleRequest } from './request.ts';

/** Additional options for a sample in Go. */
export interface GoOptions extends SampleOptions {
  resolve(schema: Schema): Schema;
}

/** Returns the request as a Go program, which needs only the standard library. */
export function goSample(
  { method, url, headers, newKeyField, body }: SampleRequest,
  options: GoOptions,
): string {
  const { key, response, resolve } = options;
  const types = new Map<string, string>();
  const print = response === undefined ? PRINT_STATUS : printJson(goType(response, resolve, types));
  const authorization =
    key === undefined ? '"Bearer "+os.Getenv("ANIMAL_STORE_KEY")' : JSON.stringify(`Bearer ${key}`);
  const imports = [...(response === undefined ? [] : ['encoding/json']), 'fmt', 'io', 'log', 'net/http'];
  if (newKeyField !== undefined) imports.unshift('crypto/rand');
  if (key === undefined) imports.push('os');
  if (body !== undefined) imports.push('strings');
  const requestBody = body === undefined ? 'nil' : `strings.NewReader(${quote(body)})`;
  return [
    'package main',
    '',
    'import (',
    ...imports.map((name) => `\t"${name}"`),
    ')',
    '',
    ...types.values(),
    'func main() {',
    `\trequest, err := http.NewRequest("${method}", ${JSON.stringify(url)}, ${requestBody})`,
    ...ifError('log.Fatal(err)'),
    `\trequest.Header.Set("Authorization", ${authorization})`,
    ...headers.map(
      ([name, value]) => `\trequest.Header.Set(${JSON.stringify(name)}, ${JSON.stringify(value)})`,
    ),
    ...(newKeyField === undefined ? [] : setNewKey(newKeyField)),
    '\tresponse, err := http.DefaultClient.Do(request)',
    ...ifError('log.Fatal(err)'),
    '\tdefer response.Body.Close()',
    '\tif response.StatusCode >= 400 {',
    '\t\tproblem, _ := io.ReadAll(response.Body)',
    '\t\tlog.Fatal(response.Status, " ", string(problem))',
    '\t}',
    ...print,
    '}',
  ].join('\n');
}

const PRINT_STATUS = ['\tfmt.Println(response.Status)'];

function printJson(type: string): string[] {
  return [
    `\tvar result ${type}`,
    '\tif err := json.NewDecoder(response.Body).Decode(&result); err != nil {',
    '\t\tlog.Fatal(err)',
    '\t}',
    '\tfmt.Printf("%s %+v\\n", response.Status, result)',
  ];
}

function setNewKey(field: string): string[] {
  return [
    '\tkey := make([]byte, 16)',
    '\tif _, err := rand.Read(key); err != nil {',
    '\t\tlog.Fatal(err)',
    '\t}',
    `\trequest.Header.Set(${JSON.stringify(field)}, fmt.Sprintf("%x", key))`,
  ];
}

function ifError(statement: string): string[] {
  return ['\tif err != nil {', `\t\t${statement}`, '\t}'];
}

/** Returns the Go type of a schema. Adds the declaration of each object type to `types`. */
function goType(schema: Schema, resolve: GoOptions['resolve'], types: Map<string, string>): string {
  const { type, items, properties } = resolve(schema);
  if (items !== undefined) return `[]${goType(items, resolve, types)}`;
  if (properties !== undefined && schema.$ref !== undefined) {
    const name = schemaName(schema.$ref);
    if (!types.has(name)) {
      types.set(name, '');
      types.set(
        name,
        declaration(name, properties, (member) => goType(member, resolve, types)),
      );
    }
    return name;
  }
  return { integer: 'int64', string: 'string', boolean: 'bool', number: 'float64' }[type ?? ''] ?? 'any';
}

function declaration(
  name: string,
  properties: NonNullable<Schema['properties']>,
  typeOfMember: (schema: Schema) => string,
): string {
  const members = Object.entries(properties).map(([member, schema]) => ({
    field: member.charAt(0).toUpperCase() + member.slice(1),
    type: typeOfMember(schema),
    tag: `\`json:"${member}"\``,
  }));
  const widest = (part: 'field' | 'type') => Math.max(...members.map((member) => member[part].length));
  const lines = members.map(
    ({ field, type, tag }) => `\t${field.padEnd(widest('field'))} ${type.padEnd(widest('type'))} ${tag}`,
  );
  return `type ${name} struct {\n${lines.join('\n')}\n}\n`;
}

/** Returns a string literal, in back quotes when that is possible. */
function quote(text: string): string {
  return /^[^`\r\0]*$/.test(text) ? `\`${text}\`` : JSON.stringify(text);
}
