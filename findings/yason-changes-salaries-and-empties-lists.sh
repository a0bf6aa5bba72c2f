#!/usr/bin/env bash
# yason, for Common Lisp, writes 20.1 back as 20.100000381469727, and an empty list and false as null.
#
# Version: yason 0.7.6 (Debian 12: cl-yason 0.7.6-1.1), SBCL 2.2.9.
#
# Expected: JSON that is read and written again has the same values; at most their spelling differs.
#
# Behaviour: Numbers with a point are read in single precision and written in double, unless *read-default-float-format* is set. [], false
# and null are all NIL, which is written as null; {} stays an object. Whole numbers of any length stay as they are.
#
# Why it matters: A step in between that only adds a member changes each salary and coordinate. Where the answer to remote work was no, none
# is left, and a list that was emptied looks like one that is not stated: a mirror that takes null for "keep" never empties it.
#
# Seen:
#   read:    {"id":12345678901234567,"pay":20.1,"latitude":40.712776,"remote":false,"skills":[],"place":{}}
#   written: {"id":12345678901234567,"pay":20.100000381469727,"latitude":40.71277618408203,"remote":null,"skills":null,"place":{}}

source "$(dirname "$0")/support/prepare.sh"
debian cl-yason=0.7.6-1.1 sbcl=2:2.2.9-1 cl-alexandria cl-trivial-gray-streams
cat >program.lisp <<'LISP'
(require :asdf)
(handler-bind ((warning #'muffle-warning))
  (let ((*standard-output* (make-broadcast-stream))) (asdf:load-system :yason)))
(let ((text "{\"id\":12345678901234567,\"pay\":20.1,\"latitude\":40.712776,\"remote\":false,\"skills\":[],\"place\":{}}"))
  (format t "read:    ~a~%written: " text)
  (funcall (find-symbol "ENCODE" :yason) (funcall (find-symbol "PARSE" :yason) text)))
(terpri)
LISP
export CL_SOURCE_REGISTRY="$root/usr/share/common-lisp/source//" SBCL_HOME="$root/usr/lib/sbcl"
sbcl --core "$SBCL_HOME/sbcl.core" --script program.lisp 2>log | expect_seen
