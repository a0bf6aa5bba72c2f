#!/usr/bin/env bash
# odt2txt and officeparser 7 write the pay that was deleted in an .odt before the text, as if it were valid.
#
# Version: odt2txt 0.5, pandoc 2.17.1.1, docx2txt 1.4 (Debian 12: odt2txt 0.5-7, pandoc 2.17.1.1-2~deb12u1, docx2txt 1.4-5); npm:
# officeparser 7.8.0 (the newest for Node 20; 8.1.1 leaves the deleted text out), mammoth 1.13.0, word-extractor 1.0.4.
#
# Expected: The text as it is shown with all changes accepted, as all of them read it in a .docx.
#
# Behaviour: With "Record changes" on, the file keeps what was deleted at its beginning, in text:tracked-changes. Both take all paragraphs for text. odt2txt
# adds who deleted it and when, and the comments at the place where they are. pandoc leaves both out.
#
# Why it matters: HR writes "$40,000", the manager makes it "$50,000", and the job board shows $40,000 first, together with "not more than
# 45,000" from a comment that was not meant for applicants. Whoever extracts a number from the text takes the first one.
#
# Seen:
#   odt2txt, .odt: HR2026-10-01T09:00:0040,000 HR2026-10-01T09:00:00Nurse. Pay: $50,000HR2026-10-01T09:00:00not more than 45,000 a year.
#   officeparser, .odt: 40,000 Nurse. Pay: $50,000 a year.
#   pandoc, .odt: Nurse. Pay: $50,000 a year.
#   officeparser, .docx: Nurse. Pay: $50,000 a year.
#   pandoc, .docx: Nurse. Pay: $50,000 a year.
#   docx2txt, .docx: Nurse. Pay: $50,000 a year.
#   mammoth, .docx: Nurse. Pay: $50,000 a year.
#   word-extractor, .docx: Nurse. Pay: $50,000 a year.

source "$(dirname "$0")/support/prepare.sh"
debian odt2txt=0.5-7 pandoc=2.17.1.1-2~deb12u1 docx2txt=1.4-5 python3=3.11.2-1+b1
npm_packages officeparser@7.8.0 mammoth@1.13.0 word-extractor@1.0.4
cat >write.py <<'PROGRAM'
import zipfile
def write(path, files):
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text if name == "mimetype" else '<?xml version="1.0" encoding="UTF-8"?>' + text)
odf = "urn:oasis:names:tc:opendocument:xmlns:"
change = "<dc:creator>HR</dc:creator><dc:date>2026-10-01T09:00:00</dc:date>"
names = f'xmlns:office="{odf}office:1.0" xmlns:text="{odf}text:1.0" xmlns:dc="http://purl.org/dc/elements/1.1/" office:version="1.2"'
write("job.odt", {
    "mimetype": "application/vnd.oasis.opendocument.text",
    "META-INF/manifest.xml": f'<m:manifest xmlns:m="{odf}manifest:1.0" m:version="1.2">'
        '<m:file-entry m:full-path="/" m:media-type="application/vnd.oasis.opendocument.text"/>'
        '<m:file-entry m:full-path="content.xml" m:media-type="text/xml"/><m:file-entry m:full-path="styles.xml" m:media-type="text/xml"/></m:manifest>',
    "styles.xml": f"<office:document-styles {names}><office:styles/></office:document-styles>",
    "content.xml": f"""<office:document-content {names}><office:body><office:text><text:tracked-changes><text:changed-region text:id="d"><text:deletion>
<office:change-info>{change}</office:change-info><text:p>40,000</text:p></text:deletion></text:changed-region><text:changed-region text:id="i"><text:insertion>
<office:change-info>{change}</office:change-info></text:insertion></text:changed-region></text:tracked-changes><text:p>Nurse. Pay: $<text:change
text:change-id="d"/><text:change-start text:change-id="i"/>50,000<text:change-end text:change-id="i"/><office:annotation>{change}<text:p>not more than
45,000</text:p></office:annotation> a year.</text:p></office:text></office:body></office:document-content>""",
})
word = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
package = "http://schemas.openxmlformats.org/package/2006/"
by = 'w:author="HR" w:date="2026-10-01T09:00:00Z"'
write("job.docx", {
    "[Content_Types].xml": f'<Types xmlns="{package}content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>',
    "_rels/.rels": f'<Relationships xmlns="{package}relationships"><Relationship Id="r1" Target="word/document.xml" '
        'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"/></Relationships>',
    "word/document.xml": f'<w:document xmlns:w="{word}"><w:body><w:p><w:r><w:t xml:space="preserve">Nurse. Pay: $</w:t></w:r>'
        f'<w:del w:id="1" {by}><w:r><w:delText>40,000</w:delText></w:r></w:del><w:ins w:id="2" {by}><w:r><w:t>50,000</w:t></w:r></w:ins>'
        '<w:r><w:t xml:space="preserve"> a year.</w:t></w:r></w:p></w:body></w:document>',
})
PROGRAM
/usr/bin/python3 write.py
cat >program.mjs <<'PROGRAM'
import mammoth from 'mammoth';
import { OfficeParser } from 'officeparser';
import WordExtractor from 'word-extractor';
const readers = {
  officeparser: async (path) => (await (await OfficeParser.parseOffice(path)).to('text')).value,
  mammoth: async (path) => (await mammoth.extractRawText({ path })).value,
  'word-extractor': async (path) => (await new WordExtractor().extract(path)).getBody(),
};
const [, , name, path] = process.argv;
console.log(await readers[name](path));
PROGRAM
show() { echo "$1, .${2#*.}: $("${@:3}" "$2" | tr '\n' ' ' | sed 's/  */ /g; s/^ //; s/ *$//; s/ \.$/./')"; }
docx_to_text() { docx2txt "$1" -; }
pandoc=(pandoc --data-dir="$root/usr/share/pandoc/data" --to plain --wrap none)
{
  show odt2txt job.odt odt2txt.odt2txt --encoding=UTF-8 --width=-1
  show officeparser job.odt node program.mjs officeparser
  show pandoc job.odt "${pandoc[@]}"
  show officeparser job.docx node program.mjs officeparser
  show pandoc job.docx "${pandoc[@]}"
  show docx2txt job.docx docx_to_text
  show mammoth job.docx node program.mjs mammoth
  show word-extractor job.docx node program.mjs word-extractor
} | expect_seen
