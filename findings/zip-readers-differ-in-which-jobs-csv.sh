#!/usr/bin/env bash
# PHP, Go, Archive::Zip and gsf read the former of two files with one name in a zip, as Python's "a" mode makes them.
#
# Version: Python 3.11.2, PHP 8.2, Go 1.19.8, Archive::Zip 1.68, gsf 1.14.50, unzip 6.0, bsdtar 3.6.2, rubyzip
# 2.3.2 (all Debian 12); npm: jszip 3.10.2, fflate 0.8.3, node-stream-zip 1.16.0, unzipit 2.1.1, adm-zip 0.6.1, decompress 4.2.1.
#
# Expected: zipfile.ZipFile(path, "a") replaces jobs.csv, or raises; and all programs read the same jobs.csv of one archive.
#
# Behaviour: Python adds a second entry with the same name and only warns. What is read by that name is the first entry in some programs
# and the last one in others; decompress returns both, unzip -p writes one after the other, and adm-zip raises.
#
# Why it matters: A source that adds its daily jobs.csv to the archive looks right in Python, unzip and Java, while a mirror in PHP or Go
# reads the first day for ever. A mirror that reads all entries keeps closed jobs. Refuse such an archive.
#
# Seen:
#   Python: UserWarning: Duplicate name: 'jobs.csv'
#   Python: tuesday
#   rubyzip: tuesday
#   unzip: tuesday
#   bsdtar: tuesday
#   PHP: monday
#   Go: monday
#   Archive::Zip: monday
#   gsf: monday
#   unzip -p: monday tuesday
#   jszip: tuesday
#   fflate: tuesday
#   node-stream-zip: tuesday
#   unzipit: tuesday
#   decompress: monday tuesday
#   adm-zip: ADM-ZIP: Duplicate entry name "jobs.csv"

source "$(dirname "$0")/support/prepare.sh"
debian python3=3.11.2-1+b1 php8.2-cli=8.2.36-1~deb12u1 php8.2-zip=8.2.36-1~deb12u1 golang-1.19-go=1.19.8-2 golang-1.19-src=1.19.8-2 libarchive-zip-perl=1.68-1 \
  libgsf-bin=1.14.50-1+deb12u1 unzip=6.0-28+deb12u1 libarchive-tools=3.6.2-1+deb12u5 ruby=1:3.1 ruby-zip=2.3.2-1
npm_packages jszip@3.10.2 fflate@0.8.3 node-stream-zip@1.16.0 unzipit@2.1.1 adm-zip@0.6.1 decompress@4.2.1
cat >write.py <<'PROGRAM'
import zipfile
for day in ["monday", "tuesday"]:
    with zipfile.ZipFile("jobs.zip", "a") as archive:
        archive.writestr("jobs.csv", day + "\n")
PROGRAM
cat >program.go <<'PROGRAM'
package main

import (
	"archive/zip"
	"io"
	"os"
)

func main() {
	archive, _ := zip.OpenReader("jobs.zip")
	file, _ := archive.Open("jobs.csv")
	io.Copy(os.Stdout, file)
}
PROGRAM
cat >program.mjs <<'PROGRAM'
import { readFileSync } from 'node:fs';
import AdmZip from 'adm-zip';
import decompress from 'decompress';
import { strFromU8, unzipSync } from 'fflate';
import JSZip from 'jszip';
import StreamZip from 'node-stream-zip';
import { unzip } from 'unzipit';
const bytes = readFileSync('jobs.zip');
const readers = {
  jszip: async () => (await JSZip.loadAsync(bytes)).file('jobs.csv').async('string'),
  fflate: () => strFromU8(unzipSync(bytes)['jobs.csv']),
  'node-stream-zip': async () => (await new StreamZip.async({ file: 'jobs.zip' }).entryData('jobs.csv')).toString(),
  unzipit: async () => (await unzip(new Uint8Array(bytes))).entries['jobs.csv'].text(),
  decompress: async () => (await decompress(bytes)).map(({ data }) => data.toString()).join(''),
  'adm-zip': () => new AdmZip('jobs.zip').readAsText('jobs.csv'),
};
for (const [name, read] of Object.entries(readers)) {
  const text = await Promise.resolve().then(read).catch(({ message }) => message);
  console.log(`${name}: ${text.trim().replaceAll('\n', ' ')}`);
}
PROGRAM
export GOROOT="$root/usr/lib/go-1.19" GOCACHE="$work/cache" GOPATH="$work/go" GO111MODULE=off GOPROXY=off
show() { echo "$1: $(tr '\n' ' ' | sed 's/ $//')"; }
{
  /usr/bin/python3 write.py 2>&1 | sed -n 's/.*UserWarning/UserWarning/p' | show Python
  /usr/bin/python3 -c 'import zipfile; print(zipfile.ZipFile("jobs.zip").read("jobs.csv").decode().strip())' | show Python
  ruby -I "$root/usr/share/rubygems-integration/all/gems/rubyzip-2.3.2/lib" -e 'require "zip"; puts Zip::File.open("jobs.zip").read("jobs.csv")' | show rubyzip
  unzip -qo jobs.zip && show unzip <jobs.csv
  bsdtar -xf jobs.zip && show bsdtar <jobs.csv
  php8.2 -n -d extension_dir="$(dirname "$root"/usr/lib/php/*/zip.so)" -d extension=zip \
    -r '$archive = new ZipArchive(); $archive->open("jobs.zip"); echo $archive->getFromName("jobs.csv");' | show PHP
  "$GOROOT/bin/go" run program.go | show Go
  perl -MArchive::Zip -e 'print scalar Archive::Zip->new("jobs.zip")->contents("jobs.csv")' | show Archive::Zip
  gsf cat jobs.zip jobs.csv | show gsf
  unzip -p jobs.zip jobs.csv | show 'unzip -p'
  node program.mjs
} | expect_seen
