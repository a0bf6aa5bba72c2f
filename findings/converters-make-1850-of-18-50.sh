#!/usr/bin/env bash
# html-to-text, Turndown, striptags, html2text and others make $1850 of "$18<sup>50</sup> an hour"; lynx and w3m write $18^50.
#
# Version: npm: html-to-text 10.0.1, turndown 7.2.5, node-html-markdown 2.0.0, striptags 3.2.0, string-strip-html 13.7.6, html2plaintext
# 2.1.4, cheerio 1.2.0; Debian 12: html2text 2.2.3, python3-html2text 2020.1.16, HTML::FormatText::WithLinks 0.15, lynx 2.9.0dev.12, w3m 0.5.3.
#
# Expected: $18.50, $18^50, or at least a blank: a superscript is not more digits of the same number.
#
# Behaviour: All but HTML::Strip, lynx and w3m drop <sup> and <sub> without a trace: "1<sup>1</sup>/<sub>2</sub> years" is "11/2 years". Struck
# text stays as if it were valid, without a mark, in most; string-strip-html removes "List&lt;String&gt;" down to "List".
#
# Why it matters: Raised cents are the usual way to set a price, and descriptions are where pay is read from: a pay of $1850 an hour, or the
# old rate beside the new one, passes all checks for numbers. Replace <sup> in a price, and drop <s> and <del>, before you make text of HTML.
#
# Seen:
#   html-to-text: Pay: $1850 an hour (was $17) | 11/2 years | List<String>
#   turndown: Pay: $1850 an hour (was $17) | 11/2 years | List<String>
#   node-html-markdown: Pay: $1850 an hour (was ~~$17~~) | 11/2 years | List<String>
#   striptags: Pay: $1850 an hour (was $17) | 11/2 years | List&lt;String&gt;
#   string-strip-html: Pay: $1850 an hour (was $17) | 11/2 years | List
#   html2plaintext: Pay: $1850 an hour (was $17) | 11/2 years | List<String>
#   cheerio: Pay: $1850 an hour (was $17) | 11/2 years | List<String>

source "$(dirname "$0")/support/prepare.sh"
