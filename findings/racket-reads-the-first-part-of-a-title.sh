#!/usr/bin/env bash
# Racket's se-path* reads the title "R&amp;D nurse" as "R", one with a comment up to the comment, and CDATA as a struct.
#
# Version: Racket 8.7 (Debian 12: racket 8.7+dfsg1-1), the libraries xml and xml/path.
#
# Expected: The text of the element: "R&D nurse".
#
# Behaviour: The parser makes a part of its own of each entity, and joins none; a comment divides a text as well. se-path* returns the first part, and
# se-path*/list the parts of all titles in one row, so that two titles cannot be told apart. A reference such as &#38; is a number in it.
#
# Why it matters: The documentation has se-path* for this use. Few titles and employers have an ampersand; those are cut, and "A&B" and "A&C"
# are one employer, "A". Join the parts of each element yourself.
#
# Seen:
#   R&amp;D nurse: "R"
#   Cook<!-- new --> (nights): "Cook"
#   Food &#38; drink: "Food "
#   <![CDATA[Guard]]>: (cdata "<![CDATA[Guard]]>")
#   Driver: "Driver"
#   all: "R" "&" "D nurse" "Cook" " (nights)" "Food " 38 " drink" (cdata "<![CDATA[Guard]]>") "Driver"

source "$(dirname "$0")/support/prepare.sh"
debian racket=8.7+dfsg1-1
cat >program.rkt <<'PROGRAM'
#lang racket/base
(require racket/string xml xml/path)
(define titles (list "R&amp;D nurse" "Cook<!-- new --> (nights)" "Food &#38; drink" "<![CDATA[Guard]]>" "Driver"))
(define (job title) (string-append "<job><title>" title "</title></job>"))
(define (read-feed jobs) (xml->xexpr (document-element (read-xml (open-input-string (string-append "<jobs>" jobs "</jobs>"))))))
(define (show part) (if (cdata? part) (format "(cdata ~s)" (cdata-string part)) (format "~s" part)))
(for ([title titles]) (printf "~a: ~a\n" title (show (se-path* '(title) (read-feed (job title))))))
(define all (se-path*/list '(title) (read-feed (string-append* (map job titles)))))
(printf "all: ~a\n" (string-join (map show all)))
PROGRAM
racket -X "$root/usr/share/racket/collects" -G "$root/etc/racket" program.rkt | expect_seen
