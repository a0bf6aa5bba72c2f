#!/usr/bin/env bash
# Postgres puts a vertical tab into a value of the type xml, and refuses to read what it has made.
#
# Version: PostgreSQL 15 (Debian 12: postgresql-15 15.20-0+deb12u1), with libxml2 2.9.14.
#
# Expected: A value of the type xml is well-formed: xmlelement escapes a character that XML cannot have, or refuses it, as the cast from a
# text does.
#
# Behaviour: xmlelement, xmlforest and query_to_xml pass it on. is_document and xpath on the result, and a dump that is restored, refuse it.
#
# Why it matters: Titles that were pasted from a word processor have vertical tabs. A feed that the database makes is not well-formed because of one
# row, and nothing in the database says so before it is read somewhere else.
#
# Seen:
#   made: <t>Nurse\x0bnights</t>
#   cast of the same text: ERROR: invalid XML content
#   xpath on what was made: ERROR: could not parse XML document

source "$(dirname "$0")/support/prepare.sh"
debian postgresql-15=15.20-0+deb12u1 postgresql-client-15=15.20-0+deb12u1
programs="$root/usr/lib/postgresql/15/bin"
chown nobody "$work"
as_nobody() { setpriv --reuid nobody --clear-groups --regid nogroup "$@"; }
as_nobody "$programs/initdb" -D data -A trust -U nobody -L "$root/usr/share/postgresql/15" >log
as_nobody "$programs/postgres" -D data -k "$work" -c listen_addresses= -c dynamic_library_path="$root/usr/lib/postgresql/15/lib" 2>>log &
server=$!
trap 'kill "$server"; wait "$server" || true; rm -rf "$work"' EXIT
ask() { "$programs/psql" -h "$work" -U nobody -XAtc "$1" postgres 2>&1 | sed 's/\x0b/\\x0b/g; s/ERROR:  /ERROR: /' | head -1; }
until "$programs/pg_isready" -q -h "$work"; do sleep 0.1; done
{
  echo "made: $(ask "select xmlelement(name t, E'Nurse\x0bnights')")"
  echo "cast of the same text: $(ask "select E'<t>Nurse\x0bnights</t>'::xml")"
  echo "xpath on what was made: $(ask "select xpath('/t', xmlelement(name t, E'Nurse\x0bnights'))")"
} | expect_seen
