#!/usr/bin/env bash
# xml-js takes a text with &amp; for escaped already, and decodes &amp;amp; twice.
#
# Version: npm: xml-js 1.6.11.
#
# Expected: What is written and read again is the same text: each `&` is written as `&amp;`, and decoded once.
#
# Behaviour: A text that contains `&amp;` is written as if it were escaped already, other references are escaped. In the other direction
# `&amp;amp;` is decoded twice.
#
# Why it matters: Feeds carry HTML in escaped form. Of "R&amp;amp;D" in a description each pass through xml-js takes one level away, until
# the HTML is wrong; every job with an "&" is another one after that.
#
# Seen:
#   R&amp;D is written as <text>R&amp;D</text> and read again as R&D
#   R&amp;amp;D is written as <text>R&amp;amp;D</text> and read again as R&amp;D
#   5 &lt; 6 is written as <text>5 &amp;lt; 6</text> and read again as 5 &lt; 6
#   5 &amp;lt; 6 is written as <text>5 &amp;lt; 6</text> and read again as 5 &lt; 6

source "$(dirname "$0")/support/prepare.sh"
npm_packages xml-js@1.6.11
cat >program.mjs <<'PROGRAM'
import convert from 'xml-js';
const pass = (text) => convert.xml2js(convert.js2xml({ text }, { compact: true }), { compact: true }).text._text;
for (const html of ['R&amp;D', 'R&amp;amp;D', '5 &lt; 6', '5 &amp;lt; 6'])
  console.log(html, 'is written as', convert.js2xml({ text: html }, { compact: true }), 'and read again as', pass(html));
PROGRAM
node program.mjs | expect_seen
