#!/bin/sh
# Pulls every feed once and sends what differs. Prints nothing if all is mirrored, so that cron mails only what needs a person.
# Ends with the exit status of `jobmirror sync`. Runs may overlap: a pull waits for another one of the same feed.
config=${1:-/etc/jobmirror/jobmirror.yaml}

report=$(jobmirror sync --json --config "$config" 2>&1)
status=$?

case $status in
  0) ;;
  1) printf 'jobmirror could not do all of its work. What failed:\n%s\n' "$report" ;;
  2) printf 'Some postings need review: jobmirror review groups --config %s\n%s\n' "$config" "$report" ;;
  *) printf 'jobmirror ended with status %s:\n%s\n' "$status" "$report" ;;
esac
exit $status
