#!/usr/bin/env bash
# PicoLisp reads a pay of 20.75 in JSON as 21, refuses 1e5, and writes an empty list and an empty text as {}.
#
# Version: PicoLisp 23.2 (Debian 12: picolisp 23.2-1), @lib/json.l.
#
# Expected: 20.75 is kept, or refused; [] and "" stay a list and a text.
#
# Behaviour: Numbers are whole, with as many decimals as the global *Scl says: none, so that the number is rounded without an error. With
# (scl 2) it is 2075, which is written as 2075, since printJson does not know of the scale. [], {} and "" are all NIL, written as {}.
#
# Why it matters: Pay per hour is wrong by up to half a dollar, places move to whole degrees, and 1e5, which other libraries write for
# 100000, ends the program. A job whose skills or title were emptied has an object in their place.
#
# Seen:
#   read:            {"pay":20.75,"latitude":40.5,"id":12345678901234567890,"skills":[],"note":"","remote":false,"end":null}
#   written:         {"pay": 21, "latitude": 41, "id": 12345678901234567890, "skills": {}, "note": {}, "remote": false, "end": null}
#   with (scl 2):    {"pay": 2075, "latitude": 4050, "id": 12345678901234567890, "skills": {}, "note": {}, "remote": false, "end": null}
#   {"pay":1e5}:     Bad JSON

source "$(dirname "$0")/support/prepare.sh"
debian picolisp=23.2-1
cat >program.l <<'PROGRAM'
(load "@lib/json.l")
(setq *Text "{\"pay\":20.75,\"latitude\":40.5,\"id\":12345678901234567890,\"skills\":[],\"note\":\"\",\"remote\":false,\"end\":null}")
(prinl "read:            " *Text)
(prin "written:         ")
(printJson (parseJson *Text))
(prinl)
(scl 2)
(prin "with (scl 2):    ")
(printJson (parseJson *Text))
(prinl)
(prinl "{\"pay\":1e5}:     " (catch '("Bad JSON") (parseJson "{\"pay\":1e5}")))
(bye)
PROGRAM
picolisp "$root/usr/lib/picolisp/lib.l" program.l | expect_seen
