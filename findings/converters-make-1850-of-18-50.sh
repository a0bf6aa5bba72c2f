#!/usr/bin/env bash
# html-to-text, Turndown, striptags, html2text and others make $1850 of "$18<sup>50</sup> an hour"; lynx makes $18^50.
#
# Version: npm: html-to-text 10.0.1, turndown 7.2.5, node-html-markdown 2.0.0, striptags 3.2.0, string-strip-html 13.7.6, html2plaintext
# 2.1.4; Debian 12: html2text 1.3.2a, python3-html2text 2020.1.16, HTML::FormatText::WithLinks 0.15, HTML::Strip 2.10, lynx 2.9.0dev.12, w3m 0.5.3.
#
# Expected: $18^50, or at least a blank: a superscript is no further digit of the same number.
#
# Behaviour: All but lynx, w3m and HTML::Strip drop <sup> and <sub> without a trace: "1<sup>1</sup>/<sub>2</sub> years" is "11/2 years". Struck pay
# stays beside the valid one, marked in the two that write Markdown with ~~, lynx and w3m. string-strip-html removes the escaped <String>.
#
# Why it matters: Raised cents are a usual way to print a price, and pay is often read from descriptions: $1850 an hour, or the
# old rate for the new one, is a valid number. Replace <sup> and drop <s> and <del> before HTML becomes text.
#
# Seen:
#   html-to-text: $1850 an hour, not $17, after 11/2 years of List<String>
#   turndown: $1850 an hour, not $17, after 11/2 years of List<String>
#   node-html-markdown: $1850 an hour, not ~~$17~~, after 11/2 years of List<String>
#   striptags: $1850 an hour, not $17, after 11/2 years of List&lt;String&gt;
#   string-strip-html: $1850 an hour, not $17, after 11/2 years of List
#   html2plaintext: $1850 an hour, not $17, after 11/2 years of List<String>
#   html2text: $1850 an hour, not $17, after 11/2 years of List<String>
#   python3-html2text: $1850 an hour, not ~~$17~~ , after 11/2 years of List<String>
#   HTML::FormatText::WithLinks: $1850 an hour, not $17, after 11/2 years of List<String>
#   HTML::Strip: $18 50 an hour, not $17 , after 1 1 / 2 years of List<String>
#   lynx: $18^50 an hour, not [DEL: $17 :DEL] , after 1^1/[2] years of List<String>
#   w3m: $18^50 an hour, not [S:$17:S], after 1^1/[2] years of List<String>

source "$(dirname "$0")/support/prepare.sh"
debian lynx=2.9.0dev.12-1 w3m=0.5.3+git20230121-2 html2text=1.3.2a-28 python3-html2text=2020.1.16-2 libhtml-formattext-withlinks-perl=0.15-3 \
  libhtml-strip-perl=2.10-2+b3
npm_packages html-to-text@10.0.1 turndown@7.2.5 node-html-markdown@2.0.0 striptags@3.2.0 string-strip-html@13.7.6 html2plaintext@2.1.4
echo '<p>$18<sup>50</sup> an hour, not <s>$17</s>, after 1<sup>1</sup>/<sub>2</sub> years of List&lt;String&gt;</p>' >job.html
cat >program.mjs <<'PROGRAM'
import { readFileSync } from 'node:fs';
import { convert } from 'html-to-text';
import plain from 'html2plaintext';
import { NodeHtmlMarkdown } from 'node-html-markdown';
import { stripHtml } from 'string-strip-html';
import striptags from 'striptags';
import Turndown from 'turndown';
const html = readFileSync('job.html', 'utf8').trim();
console.log(`html-to-text: ${convert(html)}`);
console.log(`turndown: ${new Turndown().turndown(html)}`);
console.log(`node-html-markdown: ${NodeHtmlMarkdown.translate(html)}`);
console.log(`striptags: ${striptags(html)}`);
console.log(`string-strip-html: ${stripHtml(html).result}`);
console.log(`html2plaintext: ${plain(html)}`);
PROGRAM
show() { echo "$1: $(tr '\n' ' ' | sed 's/^ *//; s/ *$//; s/  */ /g')"; }
{
  node program.mjs
  "$root/usr/bin/html2text" job.html | show html2text
  /usr/bin/python3 -m html2text --body-width=0 job.html | show python3-html2text
  perl -MHTML::FormatText::WithLinks -e 'print HTML::FormatText::WithLinks->new->parse_file("job.html")' | show HTML::FormatText::WithLinks
  perl -MHTML::Strip -0 -e 'print HTML::Strip->new->parse(<>)' job.html | show HTML::Strip
  lynx -cfg="$root/etc/lynx/lynx.cfg" -lss=/dev/null -dump -width=200 job.html | show lynx
  w3m -dump -cols 200 job.html | show w3m
} | expect_seen
