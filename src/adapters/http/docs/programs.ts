/** The programs that the guides of the page link to, in the folder `examples`. */
export const PROGRAMS: readonly string[] = [
  ...['curl.sh', 'client.go', 'client.js', 'client.py'].flatMap((name) => [name, `follow/${name}`]),
  ...['follow/copy.py', 'generated/hey-api.ts', 'generated/openapi-fetch.ts', 'typed-client.ts'],
];
