# Sourced by each finding: a temporary folder, `debian` and `npm_packages` to install pinned packages in it, and `expect_seen` to compare.
set -euo pipefail
support="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
script="$(readlink -f "$0")"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
cd "$work"
export TZ=UTC LC_ALL=C.UTF-8 HOME="$work" NO_UPDATE_NOTIFIER=1

# Usage: debian PACKAGE=VERSION... Unpacks them, and what they need and this machine does not have, below $root; nothing is installed.
debian() {
  root="$work/root"
  mkdir -p "$work/archives/partial"
  chown -R _apt "$work/archives"
  apt-get install -qq -y --download-only --reinstall --no-install-recommends -o Debug::NoLocking=1 \
    -o Dir::Cache::archives="$work/archives" "$@" >/dev/null
  for package in "$work"/archives/*.deb; do dpkg-deb --extract "$package" "$root"; done
  local libraries="$root/usr/lib/x86_64-linux-gnu"
  export LD_LIBRARY_PATH="$libraries:$libraries/blas:$libraries/lapack:$root/usr/lib/R/lib:$root/usr/lib"
  export PATH="$root/usr/sbin:$root/usr/bin:$PATH" PYTHONPATH="$root/usr/lib/python3/dist-packages" PERL5LIB="$root/usr/share/perl5:$libraries/perl5/5.36"
}

# Usage: npm_packages NAME@VERSION... Install scripts do not run.
npm_packages() {
  echo '{ "private": true, "type": "module" }' >package.json
  npm install --silent --ignore-scripts --no-audit --no-fund "$@"
}

# Usage: COMMAND | expect_seen. Shows the output, and fails if it differs from what the comment at the top of the script has as seen.
expect_seen() {
  tee "$work/seen"
  sed -n '/^# Seen:$/,/^$/{s/^#   //p}' "$script" >"$work/expected"
  diff "$work/expected" "$work/seen"
}
