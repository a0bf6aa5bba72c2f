#!/usr/bin/env bash
# Java's HttpURLConnection, PHP, Ruby, requests, fetch, curl and wget take half a feed for all of it, each in another way.
#
# Version: curl 7.88.1, wget 1.21.3, PHP 8.2.36, Ruby 3.1.2, requests 2.28.1 on Python 3.11, OpenJDK 17.0.21 (Debian 12);
# fetch of Node 20 (undici 6), and undici 7.30.2 (npm).
#
# Expected: Clients that know how long an answer is, or read its chunks and gzip, fail if it breaks off before its end.
#
# Behaviour: Each part that breaks off is noticed by some and not by others, and the same language has both: HttpURLConnection misses a
# Content-Length that is not met, Java's HttpClient does not. Node 20's fetch takes chunks without the last one for all if the answer has
# "Connection: close". A gzip stream without its end, but of the announced length, as from a source that breaks off while it compresses,
# passes everywhere but in Java. Ruby then has an empty text.
#
# Why it matters: Whoever deletes what a feed no longer has needs more than the success of a download: the closed root of the document.
#
# Seen:
#                   length   chunks   gzip
#   curl            error    error    half
#   wget            error    error    half
#   PHP             half     half     -
#   PHP curl        error    error    half
#   Ruby            half     error    nothing
#   requests        half     error    half
#   URLConnection   half     error    error
#   HttpClient      error    error    error
#   fetch           error    half     half
#   undici fetch    error    error    half

source "$(dirname "$0")/support/prepare.sh"
debian curl=7.88.1-10+deb12u15 libcurl4=7.88.1-10+deb12u15 wget=1.21.3-1+deb12u1 php8.2-cli=8.2.36-1~deb12u1 php8.2-curl=8.2.36-1~deb12u1 \
  python3-requests=2.28.1+dfsg-1 python3-urllib3=1.26.12-1+deb12u4 \
  openjdk-17-jdk-headless=17.0.21.1+2-1~deb12u1 openjdk-17-jre-headless=17.0.21.1+2-1~deb12u1 ruby3.1=3.1.7+really3.1.2-0+deb12u1 \
  libruby3.1=3.1.7+really3.1.2-0+deb12u1
npm_packages undici@7.30.2
java="$root/usr/lib/jvm/java-17-openjdk-amd64/bin"

cat >get.php <<'PROGRAM'
<?php echo file_get_contents($argv[1]);
PROGRAM
cat >get-curl.php <<'PROGRAM'
<?php
$request = curl_init($argv[1]);
curl_setopt_array($request, [CURLOPT_RETURNTRANSFER => true, CURLOPT_ENCODING => '']);
$text = curl_exec($request);
echo $text;
exit($text === false ? 1 : 0);
PROGRAM
cat >get.rb <<'PROGRAM'
require 'net/http'
print Net::HTTP.get(URI(ARGV[0]))
PROGRAM
cat >get.py <<'PROGRAM'
import requests, sys
print(requests.get(sys.argv[1]).text)
PROGRAM
cat >Get.java <<'PROGRAM'
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.zip.GZIPInputStream;

public class Get {
  public static void main(String[] names) throws Exception {
    var address = URI.create(names[1]);
    InputStream body;
    String coding;
    if (names[0].equals("URLConnection")) {
      var connection = address.toURL().openConnection();
      body = connection.getInputStream();
      coding = connection.getContentEncoding();
    } else {
      var answer = HttpClient.newHttpClient().send(HttpRequest.newBuilder(address).build(), BodyHandlers.ofInputStream());
      body = answer.body();
      coding = answer.headers().firstValue("content-encoding").orElse(null);
    }
    System.out.write("gzip".equals(coding) ? new GZIPInputStream(body).readAllBytes() : body.readAllBytes());
    System.out.flush();
  }
}
PROGRAM
cat >get.mjs <<'PROGRAM'
const get = process.argv[3] === 'undici' ? (await import('undici')).fetch : fetch;
process.stdout.write(await (await get(process.argv[2])).text());
PROGRAM
"$java/javac" Get.java
modules="$(echo "$root"/usr/lib/php/2*)"
libraries="$root/usr/lib/ruby/3.1.0:$root/usr/lib/x86_64-linux-gnu/ruby/3.1.0"
cat >program.mjs <<PROGRAM
import { startOrigin } from "$support/http.mjs";
import { execFile } from "node:child_process";
import { gzipSync } from "node:zlib";
const feed = '<jobs>' + Array.from({ length: 9 }, (_, at) => \`<job>\${at}</job>\`).join('') + '</jobs>';
const half = feed.slice(0, feed.length / 2);
const packed = gzipSync(feed).subarray(0, -12);
const head = 'HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\nConnection: close\r\n';
const answers = {
  length: [\`\${head}Content-Length: \${feed.length}\r\n\r\n\${half}\`],
  chunks: [\`\${head}Transfer-Encoding: chunked\r\n\r\n\${half.length.toString(16)}\r\n\${half}\r\n\`],
  gzip: [\`\${head}Content-Encoding: gzip\r\nContent-Length: \${packed.length}\r\n\r\n\`, packed],
};
const origin = await startOrigin(({ path }, socket) => {
  for (const part of answers[path.slice(1)]) socket.write(part);
  socket.end();
});
const clients = {
  curl: ['curl', '-s', '--compressed'],
  wget: ['wget', '-q', '--tries=1', '--compression=auto', '-O', '-'],
  PHP: ['php8.2', '-n', 'get.php'],
  'PHP curl': ['php8.2', '-n', '-d', 'extension_dir=$modules', '-d', 'extension=curl', 'get-curl.php'],
  Ruby: ['ruby3.1', 'get.rb'],
  requests: ['python3.11', 'get.py'],
  URLConnection: ['$java/java', '-cp', '.', 'Get', 'URLConnection'],
  HttpClient: ['$java/java', '-cp', '.', 'Get', 'HttpClient'],
  fetch: ['node', 'get.mjs'],
  'undici fetch': ['node', 'get.mjs'],
};
const run = ([command, ...options]) =>
  new Promise((resolve) =>
    execFile(command, options, { env: { ...process.env, RUBYLIB: '$libraries' } }, (error, text) =>
      resolve(error ? 'error' : text.includes('</jobs>') ? 'all' : text.trim() === '' ? 'nothing' : text.startsWith('<jobs>') ? 'half' : '-')));
console.log(['', 'length', 'chunks', 'gzip'].map((each, at) => each.padEnd(at === 0 ? 16 : 9)).join('').trimEnd());
for (const [name, command] of Object.entries(clients)) {
  const ends = [];
  for (const path of ['length', 'chunks', 'gzip'])
    ends.push(await run([...command, \`http://127.0.0.1:\${origin}/\${path}\`, ...(name === 'undici fetch' ? ['undici'] : [])]));
  console.log(name.padEnd(16) + ends.map((each) => each.padEnd(9)).join('').trimEnd());
}
process.exit();
PROGRAM
node program.mjs | expect_seen
