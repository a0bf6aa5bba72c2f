#!/usr/bin/env bash
# Octave writes a list of one job back as an object, null as [], "job title" as jobTitle, and the member "end" as xEnd.
#
# Version: GNU Octave 7.3.0 (Debian 12: octave 7.3.0-2), jsondecode and jsonencode.
#
# Expected: JSON that is decoded and encoded again has the same members and kinds of values.
#
# Behaviour: A list of objects becomes an array of structs, and one of length 1 is the struct itself; numbers alike. null is an empty matrix, which is
# written as []. Names that are no valid names of variables are changed; end is a keyword. Of 17 digits, 16 are kept, with ".0".
#
# Why it matters: A step in Octave that computes a score passes its tests on a day with two jobs. On the day with one, readers that
# expect a list find none, or its members, and a mirror sees an empty or broken feed. The key changes on every day.
#
# Seen:
#   read:    {"jobs":[{"ref":12345678901234567,"job title":"Cook","hours":[40],"end":null},{"ref":7,"job title":"Nurse","hours":[20,30],"end":null}]}
#   written: {"jobs":[{"ref":12345678901234568.0,"jobTitle":"Cook","hours":40,"xEnd":[]},{"ref":7,"jobTitle":"Nurse","hours":[20,30],"xEnd":[]}]}
#   read:    {"jobs":[{"ref":7,"job title":"Nurse","hours":[20,30],"end":null}]}
#   written: {"jobs":{"ref":7,"jobTitle":"Nurse","hours":[20,30],"xEnd":[]}}

source "$(dirname "$0")/support/prepare.sh"
debian octave=7.3.0-2 libpcre3=2:8.39-15
cat >program.m <<'PROGRAM'
nurse = '{"ref":7,"job title":"Nurse","hours":[20,30],"end":null}';
cook = '{"ref":12345678901234567,"job title":"Cook","hours":[40],"end":null}';
for jobs = {[cook ',' nurse], nurse}
  text = ['{"jobs":[' jobs{1} ']}'];
  printf('read:    %s\nwritten: %s\n', text, jsonencode(jsondecode(text)));
end
PROGRAM
export LD_LIBRARY_PATH="$LD_LIBRARY_PATH:$root/usr/lib/x86_64-linux-gnu/octave/7.3.0:$root/lib/x86_64-linux-gnu" OCTAVE_HOME="$root/usr"
octave-cli --no-init-file --no-history --quiet program.m 2>log | expect_seen
