import type { SampleOptions, SampleRequest } from './request.ts';

/** Returns the request as a curl command for a POSIX shell. */
export function curlSample(
  { method, url, headers, newKeyField, body }: SampleRequest,
  { key }: SampleOptions,
): string {
  const authorization =
    key === undefined ? '"Authorization: Bearer $ANIMAL_STORE_KEY"' : quote(`Authorization: Bearer ${key}`);
  // A variable holds the idempotency key, so that a retry can send the same one.
  const newKey = newKeyField === undefined ? '' : "key=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \\n')\n";
  const request = [
    `curl ${method === 'GET' ? '' : `--request ${method} `}${quote(url)}`,
    `--header ${authorization}`,
    ...headers.map(([name, value]) => `--header ${quote(`${name}: ${value}`)}`),
    ...(newKeyField === undefined ? [] : [`--header "${newKeyField}: $key"`]),
    ...(body === undefined ? [] : [`--data-raw ${quote(body)}`]),
  ].join(' \\\n  ');
  return `${newKey}${request}`;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
