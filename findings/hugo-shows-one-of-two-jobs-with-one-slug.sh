#!/usr/bin/env bash
# Hugo writes one page for two jobs with one slug, lists both in its feed, and drops Nurse.md where there is nurse.md.
#
# Version: Hugo 0.111.3 (Debian 12: hugo 0.111.3-1), without options.
#
# Expected: An error or a warning, or an address for each job.
#
# Behaviour: Pages are written where their address says, so that the last one remains, which is not the same in each run, with exit status 0 and no
# word about it. Both are in index.xml, with one <link> and one <guid>. Of names that differ in capitals only one is in the feed.
#
# Why it matters: "C developer" and "C++ developer" have the slug c-developer in most libraries. A mirror of the feed has one key for two jobs, and the
# page may be of the other one. Use --printPathWarnings, or the reference as the slug.
#
# Seen:
#   status 0, 0 warnings
#   4 jobs, pages: c-developer, nurse
#   feed: https://jobs.example/jobs/c-developer/ twice, https://jobs.example/jobs/nurse/ once

source "$(dirname "$0")/support/prepare.sh"
debian hugo=0.111.3-1
mkdir -p content/jobs layouts/_default
printf '%s\n' 'baseURL = "https://jobs.example/"' 'title = "Jobs"' >config.toml
echo '{{ .RawContent }}' >layouts/_default/single.html
echo '{{ range .Pages }}{{ .Title }}{{ end }}' >layouts/_default/list.html
job() { printf -- '---\ntitle: %s\nslug: %s\ndate: 2026-10-0%s\n---\n%s\n' "$2" "$3" "$4" "$2" >"content/jobs/$1.md"; }
job 1 'C++ developer' c-developer 1
job 2 'C developer' c-developer 2
job Nurse 'Nurse in Boston' '' 3
job nurse 'Nurse in Salem' '' 4
status=0
hugo >log 2>&1 || status=$?
{
  echo "status $status, $(grep -ciE 'warn|duplicate|error' log || true) warnings"
  echo "4 jobs, pages: $(basename -a public/jobs/*/ | paste -s -d ',' | sed 's/,/, /g')"
  count() { grep -c "<guid>https://jobs.example/jobs/$1/</guid>" public/jobs/index.xml | sed 's/1/once/; s/2/twice/'; }
  echo "feed: https://jobs.example/jobs/c-developer/ $(count c-developer), https://jobs.example/jobs/nurse/ $(count nurse)"
} | expect_seen
