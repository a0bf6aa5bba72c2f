#!/usr/bin/env bash
# JSONStream ends half a feed as a whole one, and big-json makes {} of it; the other streaming parsers report it.
#
# Version: npm: JSONStream 1.3.5, big-json 3.2.0, stream-json 3.8.0, @streamparser/json 0.0.26.
#
# Expected: A document that ends within its list is no JSON: an error, as from JSON.parse.
#
# Behaviour: JSONStream emits the jobs that were there and then end. big-json emits {} for half an object and a shorter list for half
# a list. stream-json and @streamparser/json emit the same jobs and then an error.
#
# Why it matters: Feeds that are too large for JSON.parse are read like this, and are those whose transfer breaks off. Where the HTTP client
# does not notice either, all jobs behind the break are deleted. Count the closing bracket, not the end of the stream.
#
# Seen:
#   JSONStream: jobs 7, 8, then end
#   big-json: {}, then end; of a list: [{"id":7},{"id":8}], then end
#   stream-json: jobs 7, 8, then an error
#   @streamparser/json: jobs 7, 8, then an error

source "$(dirname "$0")/support/prepare.sh"
npm_packages JSONStream@1.3.5 big-json@3.2.0 stream-json@3.8.0 @streamparser/json@0.0.26
cat >program.mjs <<'PROGRAM'
import { JSONParser } from '@streamparser/json';
import bigJson from 'big-json';
import JSONStream from 'JSONStream';
import chain from 'stream-chain';
import { parser } from 'stream-json';
import { pick } from 'stream-json/filters/pick.js';
import { streamArray } from 'stream-json/streamers/stream-array.js';
const half = '{"jobs":[{"id":7},{"id":8},{"id":9,"ti';
async function read(stream, text, show) {
  const values = [];
  stream.on('data', (data) => values.push(show(data)));
  const end = new Promise((resolve) => stream.on('end', () => resolve('end')).on('error', () => resolve('an error')));
  stream.write(text);
  stream.end();
  const how = await end;
  await new Promise(setImmediate);
  return `${values.join(', ')}, then ${how}`;
}
console.log('JSONStream: jobs', await read(JSONStream.parse('jobs.*'), half, ({ id }) => id));
const ofList = await read(bigJson.createParseStream(), '[{"id":7},{"id":8},{"id":9,"ti', JSON.stringify);
console.log(`big-json: ${await read(bigJson.createParseStream(), half, JSON.stringify)}; of a list: ${ofList}`);
console.log('stream-json: jobs', await read(chain([parser(), pick({ filter: 'jobs' }), streamArray()]), half, ({ value }) => value.id));
const jobs = [];
const pieces = new JSONParser({ paths: ['$.jobs.*'] });
pieces.onValue = ({ value }) => jobs.push(value.id);
let end = 'end';
pieces.onError = () => { end = 'an error'; };
pieces.write(half);
pieces.end();
console.log(`@streamparser/json: jobs ${jobs.join(', ')}, then ${end}`);
PROGRAM
node program.mjs | expect_seen
