#!/usr/bin/env bash
# Builds the base images that are missing from Debian and npm packages, for machines that reach no image registry.
# Usage: base-images.sh [IMAGE...]. They have the names and the contracts of the official images, as far as
# docker-compose.yml and the Dockerfile use them, but Debian's versions. An image that exists is left as it is.
# Needs root, debootstrap, npm and Docker. With NODE_EXTRA_CA_CERTS set, Node.js in node:24-slim trusts that file too.
set -euo pipefail

suite=trixie
scripts="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

# Usage: bootstrap FOLDER PACKAGES. Packages without recommendations, documentation, translations and caches.
bootstrap() {
  mkdir -p "$work/archives"
  if ! debootstrap --variant=minbase --cache-dir="$work/archives" --include="$2" "$suite" "$1" >"$work/log" 2>&1; then
    tail -n 20 "$work/log" >&2
    return 1
  fi
  rm -rf "$1"/usr/share/{doc,man,locale,info,i18n} "$1"/var/cache/apt/* "$1"/var/lib/apt/lists/* "$1"/var/log/*
}

# Usage: import IMAGE FOLDER CHANGE... Makes an image of the folder; the label tells it from an official one.
import() {
  local image="$1" folder="$2" changes=()
  shift 2
  for change in 'LABEL jobmirror.substitute=true' "$@"; do changes+=(--change "$change"); done
  tar -C "$folder" --numeric-owner --exclude='./dev/*' --exclude='./proc/*' --exclude='./sys/*' -c . |
    docker import "${changes[@]}" - "$image"
}

build_node() {
  local root="$work/node"
  bootstrap "$root" ca-certificates,libatomic1
  # The package `node` brings its binary through an install script, which has to be allowed by name.
  mkdir "$work/npm"
  printf '{ "private": true, "allowScripts": { "node": true } }\n' >"$work/npm/package.json"
  npm install --silent --prefix "$work/npm" node@24 npm@11
  install "$work/npm/node_modules/node/bin/node" "$root/usr/local/bin/node"
  mkdir -p "$root/usr/local/lib/node_modules"
  cp -R "$work/npm/node_modules/npm" "$root/usr/local/lib/node_modules/npm"
  ln -s ../lib/node_modules/npm/bin/npm-cli.js "$root/usr/local/bin/npm"
  ln -s ../lib/node_modules/npm/bin/npx-cli.js "$root/usr/local/bin/npx"
  chroot "$root" useradd --uid 1000 --create-home --shell /bin/bash node
  local changes=('ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' 'CMD ["node"]')
  if [[ -n "${NODE_EXTRA_CA_CERTS:-}" ]]; then
    install -m 644 "$NODE_EXTRA_CA_CERTS" "$root/usr/local/share/extra-authorities.pem"
    changes+=('ENV NODE_EXTRA_CA_CERTS=/usr/local/share/extra-authorities.pem')
  fi
  import node:24-slim "$root" "${changes[@]}"
}

build_postgres() {
  local root="$work/postgres" programs
  bootstrap "$root" postgresql
  # Debian's package makes a cluster; the container makes its own at its first start.
  rm -rf "$root"/var/lib/postgresql/* "$root"/etc/postgresql/*
  programs="$(cd "$root" && echo usr/lib/postgresql/*/bin)"
  install "$scripts/postgres-entrypoint.sh" "$root/usr/local/bin/docker-entrypoint.sh"
  import postgres:18 "$root" "ENV PATH=/$programs:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" \
    'ENV PGDATA=/var/lib/postgresql/18/docker' 'VOLUME /var/lib/postgresql' 'STOPSIGNAL SIGINT' \
    'ENTRYPOINT ["docker-entrypoint.sh"]' 'CMD ["postgres"]'
}

build_redis() {
  local root="$work/redis"
  bootstrap "$root" redis-server,redis-tools
  mkdir "$root/data"
  chroot "$root" chown redis:redis /data
  import redis:8 "$root" 'ENV PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' 'WORKDIR /data' 'VOLUME /data' \
    'CMD ["redis-server"]'
}

if [[ $# == 0 ]]; then set -- node:24-slim postgres:18 redis:8; fi
for image in "$@"; do
  if docker image inspect "$image" >/dev/null 2>&1; then continue; fi
  case "$image" in
    node:24-slim) build_node ;;
    postgres:18) build_postgres ;;
    redis:8) build_redis ;;
    *) echo "base-images.sh: there are no instructions for $image" >&2 && exit 1 ;;
  esac
  echo "$image is built from Debian; to remove it: docker rmi $image"
done
