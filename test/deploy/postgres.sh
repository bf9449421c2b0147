#!/bin/sh
# Does with POSTGRES_USER, POSTGRES_PASSWORD and POSTGRES_DB what the entry point of the image `postgres` does.
set -eu
PGDATA=/var/lib/postgresql/data
export PGDATA
if [ ! -f "$PGDATA/PG_VERSION" ]; then
  printf %s "$POSTGRES_PASSWORD" >/tmp/password
  initdb --username "$POSTGRES_USER" --pwfile /tmp/password --auth scram-sha-256 --encoding UTF8
  rm /tmp/password
  echo 'host all all all scram-sha-256' >>"$PGDATA/pg_hba.conf"
  echo "CREATE DATABASE $POSTGRES_DB" | postgres --single postgres
fi
exec postgres -c "listen_addresses=*" -c unix_socket_directories=/tmp
