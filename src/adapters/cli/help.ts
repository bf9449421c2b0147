/** What the commands say about themselves beside their options. */

/** Shown for `animal-store` alone. */
export const FIRST_STEPS = `A store that holds animals, served over HTTP.

  1. Serve it:                    animal-store serve
     The first start makes ./data/animal-store.db and shows an API key.
  2. Make a key for each client:  animal-store keys create --name my-client
  3. Bring your animals along:    animal-store import pets.ndjson

animal-store --help tells the rest.
`;

const DATABASE = `
The store is the one of --database-url, else of DATABASE_URL or
DATABASE_URL_FILE, else sqlite:./data/animal-store.db.
`;

type Topic =
  | 'program'
  | 'serve'
  | 'create'
  | 'list'
  | 'revoke'
  | 'rotate'
  | 'import'
  | 'export'
  | 'backup'
  | 'openapi';

export const HELP: Readonly<Record<Topic, string>> = {
  program: `
Examples:
  animal-store serve
  animal-store keys create --name my-client --expires 90d
  animal-store import pets.ndjson
  animal-store export --status available > available.ndjson
  animal-store backup /backups/animal-store.db
${DATABASE}
Exit status: 0 done, 1 failed, 2 wrong usage.
`,
  serve: `
Examples:
  animal-store serve
  PORT=8080 animal-store serve --database-url sqlite:/var/lib/pets.db

Settings come from the environment: HOST, PORT, DATABASE_URL, API_KEYS,
LOG_LEVEL, PUBLIC_URL, CORS_ORIGIN, SHUTDOWN_TIMEOUT_MS,
MAX_CONNECTIONS.
`,
  create: `
Examples:
  animal-store keys create --name my-client
  animal-store keys create --name ci --expires 90d
  KEY=$(animal-store keys create --name shop --expires 2027-01-31)

The key alone goes to standard output, what is known of it to standard error.
Only its hash is stored, so nobody can show it again. A key with a day is good
to the end of that day (UTC). A server that is running takes the key at once.
`,
  list: `
Examples:
  animal-store keys list
  animal-store keys list --json

LAST USED is noted once a day. EXPIRES is the last day on which the key is
good. All days are UTC.
`,
  revoke: `
Examples:
  animal-store keys revoke 3

A server on this machine refuses the key within 1 s, one on another machine
within 5 s.
`,
  rotate: `
Examples:
  animal-store keys rotate 3
  animal-store keys rotate 3 --overlap 12h
  animal-store keys rotate 3 --overlap 0

A new key of the same name is made now; the old one ends after the overlap, or
earlier when it expires earlier. For a key that has leaked: --overlap 0.
`,
  import: `
Examples:
  animal-store import pets.ndjson
  animal-store import --skip-invalid --refused bad.ndjson pets.ndjson
  animal-store export | animal-store import --database-url sqlite:copy.db -

Each line is one animal in JSON: {"name":"Rex","categoryId":7,"status":"sold"},
the status may be left out. Animals with an id keep it, which only a store that
never had an animal allows. Blank lines are passed over.

All or nothing: when a line is bad, or on Ctrl-C, the store is as it was. With
--skip-invalid the bad lines are left out and written, with number and reason,
to a file; the others are imported. When that file cannot be written, nothing is
imported. It replaces a regular file of that name, but never the store or the
input.

Lines are read into a temporary file (in SQLITE_TMPDIR, else TMPDIR, else
/var/tmp) and then stored at once. A server on the same SQLite file goes on
reading. Its creates wait while the animals are stored, 1 or 2 s for a million;
one that would wait for more than 5 s gets a 503 with Retry-After.
`,
  export: `
Examples:
  animal-store export > pets.ndjson
  animal-store export --status sold | gzip > sold.ndjson.gz

One line of JSON for each animal, in ascending order of id, all as they were at
one moment. A server goes on reading and writing meanwhile. The export may be
read slowly. One that was cut short by Ctrl-C ends with exit status 1.
`,
  backup: `
Examples:
  animal-store backup /backups/animal-store.db
  animal-store backup --force latest.db

A copy of the whole store, keys included, as it is at one moment; a server goes
on reading and writing meanwhile. The file has its name once the copy is whole
and on the disk; --force replaces a regular file, never the store. To restore,
stop the server, put the copy in the place of the file, and remove the -wal and
-shm files beside it.
`,
  openapi: `
Examples:
  animal-store openapi > openapi.json
  PUBLIC_URL=https://pets.example.org animal-store openapi

The document is what a server with the same settings gives at /openapi.json.
`,
};
