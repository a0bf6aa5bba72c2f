#!/usr/bin/env bash
# csvtool removes blanks around fields that are not quoted.
#
# Version: csvtool 2.4 (Debian 12: 2.4-1+b2), of the OCaml library csv.
#
# Expected: Blanks are part of a field (RFC 4180, 2.4): a tool that picks columns keeps them, as csvcut does.
#
# Behaviour: Blanks at both ends of an unquoted field are gone in the output; those of a quoted one stay.
#
# Why it matters: Two references that differ in a leading blank become one key. A feed that goes through csvtool on some days only has
# other texts on those days.
#
# Seen:
#   A-7,"Nurse "$
#   A-7,Cook$

source "$(dirname "$0")/support/prepare.sh"
debian csvtool=2.4-1+b2

printf '1, A-7,"Nurse "\n2,A-7 ,Cook \n' | csvtool col 2,3 - | cat -A | expect_seen
