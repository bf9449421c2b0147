import type { SampleOptions, SampleRequest } from './request.ts';

/** Returns the request as a Python 3 program, which needs only the standard library. */
export function pythonSample(
  { method, url, headers, newKeyField, body }: SampleRequest,
  { key, response }: SampleOptions,
): string {
  const authorization =
    key === undefined ? '"Bearer " + os.environ["ANIMAL_STORE_KEY"]' : JSON.stringify(`Bearer ${key}`);
  const fields = [
    `"Authorization": ${authorization}`,
    ...headers.map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`),
    ...(newKeyField === undefined ? [] : [`${JSON.stringify(newKeyField)}: str(uuid.uuid4())`]),
  ];
  const lines = [
    ...(response === undefined ? [] : ['import json']),
    ...(key === undefined ? ['import os'] : []),
    ...(newKeyField === undefined ? [] : ['import uuid']),
    'from urllib.error import HTTPError',
    'from urllib.request import Request, urlopen',
    '',
    'request = Request(',
    `    ${JSON.stringify(url)},`,
    ...(method === 'GET' ? [] : [`    method=${JSON.stringify(method)},`]),
    '    headers={',
    ...fields.map((field) => `        ${field},`),
    '    },',
    ...(body === undefined ? [] : [`    data=${quote(body)}.encode(),`]),
    ')',
    'try:',
    '    response = urlopen(request)',
    'except HTTPError as error:',
    '    response = error',
    ...(response === undefined
      ? ['print(response.status, response.read().decode())']
      : ['# The integers of Python are exact.', 'print(response.status, json.load(response))']),
  ];
  return lines.join('\n');
}

/** Returns a string literal, in single quotes when the text needs no escape. */
function quote(text: string): string {
  return /^[^'\\\p{Cc}]*$/u.test(text) ? `'${text}'` : JSON.stringify(text);
}
