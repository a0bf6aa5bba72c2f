#!/bin/sh
# Entry point of the substitute for postgres:18: creates user and database at the first start, then becomes the server.
set -eu

if [ "$(id -u)" = 0 ]; then
  mkdir -p "$PGDATA"
  chown -R postgres: /var/lib/postgresql
  exec setpriv --reuid=postgres --regid=postgres --init-groups "$0" "$@"
fi

# A first start that was killed has left no version file, or it has and the server can recover.
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  : "${POSTGRES_PASSWORD:?set it to the password of the user}"
  user="${POSTGRES_USER:-postgres}"
  passwords="$(mktemp)"
  printf '%s\n' "$POSTGRES_PASSWORD" >"$passwords"
  initdb --username="$user" --pwfile="$passwords" --auth-local=trust --auth-host=scram-sha-256 --encoding=UTF8 \
    --locale=C.UTF-8 --no-sync
  rm "$passwords"
  printf 'host all all all scram-sha-256\n' >>"$PGDATA/pg_hba.conf"
  if [ "${POSTGRES_DB:-$user}" != postgres ]; then
    echo "CREATE DATABASE \"${POSTGRES_DB:-$user}\"" | postgres --single -j postgres
  fi
fi
exec "$@" -c listen_addresses='*' -c unix_socket_directories=/tmp,/var/run/postgresql
