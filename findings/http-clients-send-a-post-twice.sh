#!/usr/bin/env bash
# HttpURLConnection, curl, wget, and Go with an Idempotency-Key repeat a POST that was done and got no answer.
#
# Version: OpenJDK 17.0.21, curl 7.88.1, wget 1.21.3, Go 1.19.8 (Debian 12), fetch of Node 20.
#
# Expected: A POST is no idempotent method: a client that does not know what became of it says so (RFC 9110, 9.2.2).
#
# Behaviour: HttpURLConnection repeats it even on a connection of its own, and reports the end of the second one only. curl, and PHP with
# it, does so on a kept connection, where it takes the connection for one that had ended before. wget counts it as one of its 20 tries.
# Go repeats it only if the request has the header Idempotency-Key, which is meant to make that harmless, whatever the site makes of it.
#
# Why it matters: Each repetition is a second job, with an error or a success that names one of them. A site that ends connections while it is
# being restarted gets all jobs of that moment twice.
#
# Seen:
#   HttpURLConnection: done 2 times
#   HttpURLConnection, kept connection: done 2 times
#   HttpClient, kept connection: done 1 time
#   curl: done 1 time
#   curl, kept connection: done 2 times
#   wget --tries=3: done 3 times
#   Go, kept connection: done 1 time
#   Go, kept connection, Idempotency-Key: done 2 times
#   fetch, kept connection: done 1 time

source "$(dirname "$0")/support/prepare.sh"
debian curl=7.88.1-10+deb12u15 libcurl4=7.88.1-10+deb12u15 wget=1.21.3-1+deb12u1 golang-1.19-go=1.19.8-2 golang-1.19-src=1.19.8-2 \
  openjdk-17-jdk-headless=17.0.21.1+2-1~deb12u1 openjdk-17-jre-headless=17.0.21.1+2-1~deb12u1
export GOROOT="$root/usr/lib/go-1.19" GOCACHE="$work/cache" GOPATH="$work/go" GO111MODULE=off GOPROXY=off
java="$root/usr/lib/jvm/java-17-openjdk-amd64/bin"
cat >post.go <<'PROGRAM'
package main

import (
	"io"
	"net/http"
	"os"
	"strings"
)

// The last address has the key.
func main() {
	key, addresses := os.Args[1], os.Args[2:]
	for at, address := range addresses {
		request, _ := http.NewRequest("POST", address, strings.NewReader("<job/>"))
		if at == len(addresses)-1 && key != "" {
			request.Header.Set("Idempotency-Key", key)
		}
		if answer, err := http.DefaultClient.Do(request); err == nil {
			io.Copy(io.Discard, answer.Body)
			answer.Body.Close()
		}
	}
}
PROGRAM
cat >Post.java <<'PROGRAM'
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;

public class Post {
  public static void main(String[] names) throws Exception {
    var client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    for (int at = 1; at < names.length; at++) {
      var address = URI.create(names[at]);
      try {
        if (names[0].equals("HttpClient")) {
          client.send(HttpRequest.newBuilder(address).POST(BodyPublishers.ofString("<job/>")).build(), BodyHandlers.ofString());
          continue;
        }
        var connection = (HttpURLConnection) address.toURL().openConnection();
        connection.setDoOutput(true);
        connection.getOutputStream().write("<job/>".getBytes());
        connection.getInputStream().readAllBytes();
      } catch (java.io.IOException error) {
        // What it reports is the same, however often it was sent.
      }
    }
  }
}
PROGRAM
cat >post.mjs <<'PROGRAM'
for (const address of process.argv.slice(2))
  await fetch(address, { method: 'POST', body: '<job/>' }).then((answer) => answer.text()).catch(() => undefined);
PROGRAM
"$GOROOT/bin/go" build -o post-go post.go
"$java/javac" Post.java
cat >program.mjs <<PROGRAM
import { execFile } from "node:child_process";
import { startOrigin } from "$support/http.mjs";
let done = 0;
const origin = await startOrigin(({ path }, socket) => {
  if (path === '/first') return socket.write('HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nok');
  done++;
  socket.end();
});
const [first, lost] = ['first', 'lost'].map((path) => \`http://127.0.0.1:\${origin}/\${path}\`);
const post = ['-s', '-d', '<job/>'];
const commands = {
  HttpURLConnection: ['$java/java', '-cp', '.', 'Post', 'HttpURLConnection', lost],
  'HttpURLConnection, kept connection': ['$java/java', '-cp', '.', 'Post', 'HttpURLConnection', first, lost],
  'HttpClient, kept connection': ['$java/java', '-cp', '.', 'Post', 'HttpClient', first, lost],
  curl: ['curl', ...post, lost],
  'curl, kept connection': ['curl', ...post, first, lost],
  'wget --tries=3': ['wget', '-q', '--tries=3', '--waitretry=0', '--post-data=<job/>', '-O', '-', lost],
  'Go, kept connection': ['./post-go', '', first, lost],
  'Go, kept connection, Idempotency-Key': ['./post-go', 'A-7', first, lost],
  'fetch, kept connection': ['node', 'post.mjs', first, lost],
};
for (const [name, [command, ...options]] of Object.entries(commands)) {
  done = 0;
  await new Promise((resolve) => execFile(command, options, resolve));
  console.log(\`\${name}: done \${done} time\${done === 1 ? '' : 's'}\`);
}
process.exit();
PROGRAM
node program.mjs | expect_seen
