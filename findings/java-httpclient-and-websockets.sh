#!/usr/bin/env bash
# Java's HttpClient cannot post to a Node server that also has WebSockets: ws answers 405 to it.
#
# Version: OpenJDK 17.0.21 (Debian 12: openjdk-17-jdk-headless 17.0.21.1+2-1~deb12u1), ws 8.23.0 (npm) on Node 20.
#
# Expected: A POST to a path that has nothing to do with WebSockets is handled as that of any other client.
#
# Behaviour: Over http, HttpClient offers HTTP/2 with each request (Upgrade: h2c). A server may ignore that, and Node does so unless somebody
# listens to "upgrade": ws does, for all paths, and ends what is no WebSocket with an answer of its own. With HTTP_1_1 as its version,
# HttpClient offers nothing.
#
# Why it matters: A job site whose pages show changes live refuses each message from a Java program, and its own handlers see and log nothing.
# The status, 405, makes one look for a wrong address.
#
# Seen:
#   without WebSockets: HTTP_2 POST 200, GET 200; HTTP_1_1 POST 200, GET 200
#   with WebSockets at /live: HTTP_2 POST 405, GET 400; HTTP_1_1 POST 200, GET 200

source "$(dirname "$0")/support/prepare.sh"
debian openjdk-17-jdk-headless=17.0.21.1+2-1~deb12u1 openjdk-17-jre-headless=17.0.21.1+2-1~deb12u1
npm_packages ws@8.23.0
cat >Send.java <<'PROGRAM'
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;

public class Send {
  static int send(HttpClient.Version version, HttpRequest.Builder request) throws Exception {
    return HttpClient.newBuilder().version(version).build().send(request.build(), BodyHandlers.ofString()).statusCode();
  }

  public static void main(String[] addresses) throws Exception {
    for (var address : addresses) {
      var request = HttpRequest.newBuilder(URI.create(address));
      var seen = new StringBuilder();
      for (var version : new HttpClient.Version[] {HttpClient.Version.HTTP_2, HttpClient.Version.HTTP_1_1})
        seen.append("; " + version + " POST " + send(version, request.POST(BodyPublishers.ofString("{}"))) + ", GET " + send(version, request.GET()));
      System.out.println(seen.substring(2));
    }
  }
}
PROGRAM
cat >program.mjs <<PROGRAM
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { WebSocketServer } from "ws";
const serve = async () => {
  const server = createServer((request, answer) => request.resume().on('end', () => answer.end('done'))).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
};
const [plain, live] = [await serve(), await serve()];
new WebSocketServer({ server: live, path: '/live' });
const java = '$root/usr/lib/jvm/java-17-openjdk-amd64/bin';
execFileSync(java + '/javac', ['Send.java']);
const names = ['without WebSockets', 'with WebSockets at /live'];
const child = spawn(java + '/java', ['-cp', '.', 'Send', ...[plain, live].map((each) => \`http://127.0.0.1:\${each.address().port}/hook\`)]);
let text = '';
child.stdout.on('data', (data) => (text += data));
await once(child, 'exit');
text.trim().split('\n').forEach((line, at) => console.log(\`\${names[at]}: \${line}\`));
process.exit();
PROGRAM
node program.mjs | expect_seen
