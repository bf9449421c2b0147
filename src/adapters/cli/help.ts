/** The texts that the help shows after the options of a command, by the names of the commands. */
export const HELP: Readonly<Record<string, string>> = {
  'animal-store': `
Examples:
  animal-store serve                          create a store, show its first key
  animal-store keys create --name my-client   create a key for a client
  animal-store pets create --name Rex --category-id 7
  animal-store pets list
  animal-store import pets.ndjson
  animal-store export --status available > available.ndjson
  animal-store backup /backups/animal-store.db
  animal-store doctor

The database of the store is given by --database-url, by DATABASE_URL or
DATABASE_URL_FILE, or is sqlite:./data/animal-store.db by default. For pets,
export and doctor it can be the address of a server, such as
https://pets.example.org/v1, with the key in API_KEY or API_KEY_FILE.

Exit status: 0 done, 1 failed, 2 wrong usage.
`,
  'animal-store serve': `
Examples:
  animal-store serve
  animal-store serve --host 0.0.0.0 --port 8080
  LOG_LEVEL=warn animal-store serve --database-url sqlite:/var/lib/pets.db

The settings are environment variables. The options have precedence.
  HOST, PORT           the address to listen on
  DATABASE_URL         sqlite:PATH, memory: or postgres://HOST/DATABASE
  DATABASE_URL_FILE    a file that contains the value of DATABASE_URL
  API_KEYS             keys that are valid in addition to the stored keys
  API_KEYS_FILE        a file that contains the value of API_KEYS
  FIRST_KEY            where the first key of a new store goes: print,
                       file:PATH or none (default: print)
  IDEMPOTENCY_DAYS     how many days a create can be repeated with its
                       Idempotency-Key, from 1 to 90 (default: 1)
  LOG_LEVEL            silent, error, warn, info or debug (default: info)
  LOG_SAMPLE           the share of good requests that is logged, such as 1/100
                       (default: 1)
  PUBLIC_URL           the base URL that clients use, such as that of a proxy
  TRUST_PROXY          the addresses of trusted proxies, such as 10.0.0.0/8
  CORS_ORIGIN          the origins from which browsers may call the API
  SHUTDOWN_TIMEOUT_MS  how long a stop waits for requests (default: 10000)
  MAX_CONNECTIONS      the maximum number of open connections (default: limited
                       by the file descriptors)
  WORKERS              the number of threads that handle requests, or auto: one
                       for each core (default: 1)
  RATE_LIMIT           the limit of each key, such as 100/s, 600/min or 5000/h

The first start of a store creates an API key.
`,
  'animal-store keys create': `
Examples:
  animal-store keys create --name my-client
  animal-store keys create --name ci --expires 90d
  animal-store keys create --name web-page --read-only
  KEY=$(animal-store keys create --name shop --expires 2027-01-31)
  animal-store keys create --name shop --create-store

The key is written to standard output, its attributes to standard error. Only
the hash of the key is stored, so the key cannot be shown again. A key that
expires on a date is valid until the end of that day (UTC). A running server
accepts the new key immediately. No key is created if standard output is closed
or the null device.
`,
  'animal-store keys list': `
Examples:
  animal-store keys list
  animal-store keys list --active
  animal-store keys list --json

PREFIX is the start of the key. STATUS is active, expired, revoked, or the last
day on which the key is valid, and read-only for a key that creates no pets.
LAST USED is updated once a day. All dates are UTC.
`,
  'animal-store keys revoke': `
Examples:
  animal-store keys revoke 3

Every server that uses the store refuses the key within 1 s.
`,
  'animal-store keys rotate': `
Examples:
  animal-store keys rotate 3
  animal-store keys rotate 3 --overlap 12h
  animal-store keys rotate 3 --overlap 0 --expires never

Creates a new key with the same name and the same lifetime, that is, the time
from the creation of a key to its expiry. The old key expires after the overlap,
or earlier if it had an earlier expiry. If the old key has leaked, use
--overlap 0.
`,
  'animal-store pets list': `
Examples:
  animal-store pets list --status sold
  animal-store pets list --after 20 --limit 100
  animal-store pets list --all --json > pets.json
  animal-store pets list --database-url https://pets.example.org/v1

Integers are exact, also beyond 2^53. With --all, the pets are printed while they
are read, page by page: pets that are added meanwhile can be among them.
`,
  'animal-store pets get': `
Examples:
  animal-store pets get 7
  animal-store pets get --json 9007199254740993
`,
  'animal-store pets create': `
Examples:
  animal-store pets create --name Rex --category-id 7
  animal-store pets create --name Rex --category-id 7 --status sold --json
  animal-store pets create --name Rex --category-id 7 --idempotency-key order-1

The pet is durable when it is printed. If the outcome of a create is unknown, for
example because a connection was lost, run it again with the same idempotency
key, which the message names.
`,
  'animal-store import': `
Examples:
  animal-store import pets.ndjson
  animal-store import --dry-run pets.ndjson.gz
  animal-store import --skip-invalid --refused bad.ndjson pets.ndjson
  animal-store export |
    animal-store import --create-store --database-url sqlite:copy.db -

Each line is one pet in JSON: {"name":"Rex","categoryId":7,"status":"sold"}. The
status can be left out. Pets with an id keep their id, which is possible only in
a store that has never had a pet. Blank lines are ignored. An input that is
compressed with gzip is recognized by its content.

The import is all or nothing: after an invalid line or Ctrl-C, the store is
unchanged. With --skip-invalid, invalid lines are skipped and written to a file,
with their line numbers and the reasons. If that file cannot be written, nothing
is imported. An existing regular file is replaced only if it is named with
--refused and --force, but never a file of the store or the input.

With --dry-run, everything is checked in the same way, and nothing is imported.
The store must exist. With --skip-invalid, the file of invalid lines is written.

The lines are first read into a temporary file (in SQLITE_TMPDIR, TMPDIR or
/var/tmp) and then stored in one transaction. A server on the same SQLite file
can read meanwhile, but its creates wait for 1 or 2 s per million pets, and
receive 503 with Retry-After after 5 s.
`,
  'animal-store export': `
Examples:
  animal-store export > pets.ndjson
  animal-store export --status sold --output sold.ndjson.gz
  animal-store export --gzip > pets.ndjson.gz
  animal-store export --follow --after 1042

Writes one line of JSON per pet, in ascending order of id. The export shows the
store at one moment, however long it takes to read. A server can read and write
at the same time. After Ctrl-C, the exit status is 1. The file of --output gets
its name once it is complete and durable.

With --follow, all pets are written, and then each new one as soon as it is
visible, until Ctrl-C. A reader can start again --after the last id it has seen.
`,
  'animal-store backup': `
Examples:
  animal-store backup /backups/animal-store.db
  animal-store backup --force latest.db
  animal-store backup --verify /backups/animal-store.db

Copies the whole store at one moment, including the keys. A server can read and
write at the same time. The file gets its name once the copy is complete and
durable. --force replaces an existing regular file, but never a file of the
store. The command restore restores a backup.

With --verify, the copy gets its name only after a check: all its pages and
indexes, its schema, the rules of each pet, and the numbers of pets and keys and
the newest id of the store at the moment of the copy. The store keeps the time,
which doctor and the metrics of a server show.
`,
  'animal-store restore': `
Examples:
  animal-store restore /backups/animal-store.db
  animal-store restore --force /backups/animal-store.db

Replaces the whole store, including the keys. Stop the server first: a store
that is in use is refused. The backup is checked before the store changes, and the
store is replaced in one step. After a failure or Ctrl-C, the old store is
unchanged. A store that has pets is replaced only with --force. With --force, a
store that cannot be read is replaced too, and its files are kept.
`,
  'animal-store doctor': `
Examples:
  animal-store doctor
  animal-store doctor --json
  animal-store doctor --backup /backups/animal-store.db

Shows which store is used and which setting selects it, the versions, the
integrity, the numbers of pets and keys, the free disk space, and what should be
changed. Run it with the settings and as the user of the server. It changes
nothing, and a server can run at the same time. The exit status is 1 if an error
is found. A warning does not change the exit status.

With --backup, it also checks a backup as backup --verify does. The backup can be
older than the store, but must not have more pets.
`,
  'animal-store completion': `
Examples:
  source <(animal-store completion bash)
  source <(animal-store completion zsh)
  animal-store completion fish > ~/.config/fish/completions/animal-store.fish

The first two lines belong into ~/.bashrc and ~/.zshrc. In zsh, the line must
follow compinit.
`,
  'animal-store openapi': `
Examples:
  animal-store openapi > openapi.json
  PUBLIC_URL=https://pets.example.org animal-store openapi

Prints the document that a server with the same settings serves at
/openapi.json.
`,
};
