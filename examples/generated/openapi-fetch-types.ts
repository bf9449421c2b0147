/**
 * Writes the types of the API for `openapi-fetch`, with `bigint` for each int64:
 * `node openapi-fetch-types.ts http://127.0.0.1:3000/openapi.json pets.d.ts`.
 */

import { writeFile } from 'node:fs/promises';
import openapiTS, { astToString } from 'openapi-typescript';
import ts from 'typescript';

const [url = '', file = ''] = process.argv.slice(2);
const bigint = ts.factory.createKeywordTypeNode(ts.SyntaxKind.BigIntKeyword);
const types = await openapiTS(new URL(url), {
  transform: ({ format }) => (format === 'int64' ? bigint : undefined),
});
await writeFile(file, astToString(types));
