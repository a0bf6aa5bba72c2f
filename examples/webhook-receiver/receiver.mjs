// Receives alerts and events of postings from jobmirror, and prints one line for each. Needs Node 20 and nothing else.
//
//   WEBHOOK_SECRET="$(openssl rand -base64 32)" PORT=9000 node receiver.mjs
//
// In jobmirror.yaml:  alerts: { ops: { url: "http://127.0.0.1:9000/", secret: "${WEBHOOK_SECRET}" } }
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';

const MAX_BODY_BYTES = 1 << 20;
/** Older messages may be replays of somebody who has recorded them. */
const MAX_AGE_SECONDS = 300;
/** jobmirror repeats a message, with the same ID, until it is accepted. Keep them in a database if a repetition does harm. */
const MAX_REMEMBERED = 10_000;

const secret = Buffer.from((process.env.WEBHOOK_SECRET ?? '').replace(/^whsec_/, ''), 'base64');
if (secret.length < 24)
  throw new Error('WEBHOOK_SECRET must be 24 to 64 random bytes in Base64: openssl rand -base64 32');

const seen = new Set();

/** The signature covers ID, time and body, exactly as they were sent (www.standardwebhooks.com). */
function isSigned(headers, body) {
  const { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': signatures = '' } = headers;
  const age = Math.abs(Date.now() / 1000 - Number(time));
  if (id === undefined || !(age <= MAX_AGE_SECONDS)) return false;
  const expected = createHmac('sha256', secret).update(`${id}.${time}.`).update(body).digest();
  return signatures.split(' ').some((signature) => {
    const [version, text = ''] = signature.split(',');
    const given = Buffer.from(text, 'base64');
    return version === 'v1' && given.length === expected.length && timingSafeEqual(given, expected);
  });
}

/** Texts come from feeds and sites: JSON shows control characters as escapes. */
function handle({ type, data }) {
  const { alert, site, feed, key, message } = data;
  console.log(JSON.stringify({ type, alert, site, feed, key, message }));
}

const server = createServer(async (request, response) => {
  const answer = (status) => response.writeHead(status).end();
  const parts = [];
  let size = 0;
  try {
    for await (const part of request) {
      size += part.length;
      if (size > MAX_BODY_BYTES) return answer(413);
      parts.push(part);
    }
    const body = Buffer.concat(parts);
    if (!isSigned(request.headers, body)) return answer(401);
    const id = request.headers['webhook-id'];
    if (!seen.has(id)) {
      handle(JSON.parse(body.toString()));
      seen.add(id);
      if (seen.size > MAX_REMEMBERED) seen.delete(seen.values().next().value);
    }
    // Answer within 15 seconds, before slow work: otherwise the message is sent again.
    answer(204);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    answer(500);
  }
});

server.listen(Number(process.env.PORT ?? 9000), '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}/`);
});
