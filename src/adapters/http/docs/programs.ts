/** The programs from the folder `examples` that are linked in the guides of the reference page. */
export const PROGRAMS: readonly string[] = [
  ...['curl.sh', 'client.go', 'client.js', 'client.py'].flatMap((name) => [name, `follow/${name}`]),
  ...['follow/copy.py', 'generated/hey-api.ts', 'generated/openapi-fetch.ts', 'typed-client.ts'],
];
