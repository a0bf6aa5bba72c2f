// Measures pulls without changes of the same postings as XML, as one JSON array and as CSV, beside parsers that yield records.
import { mapFeed, openInstallation } from '../installation.ts';
import {
  bytesOf,
  fastest,
  fastestOfEach,
  feedFile,
  judge,
  lineOf,
  type Measured,
  type Part,
  scriptOf,
  type Workbench,
} from '../workbench.ts';

const PART = 'formats';
/** With a million postings, one run of all contestants takes more than a minute. */
const MOST_RUNS = 3;
/** With this setting, @streamparser/json is fastest. */
const STRING_BUFFER_BYTES = '16384';
/** V8 strings are limited to 512 MiB. */
const MOST_RECORDS_WHOLE = 200_000;

const FIELDS = `{ title: title, number: referencenumber, description: description, location-city: city,
        location-state: { from: state, as: us_state }, contact-web-address: url }`;

const FORMATS = {
  xml: 'indeed',
  json: `{ type: json, key: referencenumber, fields: ${FIELDS} }`,
  csv: `{ type: csv, key: referencenumber, fields: ${FIELDS} }`,
} as const;

export const formats: Part = async (workbench) => {
  const bench = { ...workbench, runs: Math.min(workbench.runs, MOST_RUNS) };
  const [xml, json, csv] = [await install(bench, 'xml'), await install(bench, 'json'), await install(bench, 'csv')];
  const timed = await fastestOfEach(bench, {
    xml: xml.pull,
    json: json.pull,
    csv: csv.pull,
    streamparser: { script: scriptOf('peers/streamparser-json'), args: [json.path, STRING_BUFFER_BYTES] },
    streamparserDefault: { script: scriptOf('peers/streamparser-json'), args: [json.path], runs: 1 },
    udsv: { script: scriptOf('peers/udsv'), args: [csv.path] },
    papaparse: { script: scriptOf('peers/papaparse'), args: [csv.path], runs: 1 },
  });
  for (const { close } of [xml, json, csv]) await close();

  const line = (what: string, result: (typeof timed)[keyof typeof timed], path: string) =>
    lineOf(PART, what, bench.records, result, bytesOf(path));
  const pulls = {
    xml: line('jobmirror pull, XML', timed.xml, xml.path),
    json: line('jobmirror pull, JSON', timed.json, json.path),
    csv: line('jobmirror pull, CSV', timed.csv, csv.path),
  };
  const streamparser = line('@streamparser/json, records', timed.streamparser, json.path);
  const byDefault = line('the same without string buffer', timed.streamparserDefault, json.path);
  const udsv = line('udsv, records', timed.udsv, csv.path);
  const papaparse = line('papaparse, records', timed.papaparse, csv.path);
  const whole = await parseWhole(bench);
  return {
    rows: [pulls.xml, pulls.json, pulls.csv, streamparser, byDefault, whole, udsv, papaparse],
    verdicts: [
      judge('no-change pull, JSON, against XML', rate(pulls.json) / rate(pulls.xml), 'at least', 0.8, '×'),
      judge('no-change pull, CSV, against XML', rate(pulls.csv) / rate(pulls.xml), 'at least', 0.8, '×'),
      judge('no-change pull, JSON, memory', pulls.json.peakMegabytes, 'at most', 250, 'MB'),
      judge('no-change pull, CSV, memory', pulls.csv.peakMegabytes, 'at most', 250, 'MB'),
      judge(
        'no-change pull, JSON, against @streamparser/json',
        rate(pulls.json) / rate(streamparser),
        'at least',
        5,
        '×',
      ),
      judge('no-change pull, JSON, against JSON.parse', rate(pulls.json) / rate(whole), 'at least', 1, '×'),
      judge('no-change pull, CSV, against udsv', rate(pulls.csv) / rate(udsv), 'at least', 3, '×'),
    ],
  };
};

/** Postings a second. */
const rate = ({ count, seconds }: Measured): number => count / seconds;

async function install(bench: Workbench, format: keyof typeof FORMATS) {
  const shape = { records: bench.records, seed: 1, changedPer10k: 0, format };
  const path = await feedFile(bench, shape, format);
  const installation = await openInstallation(bench.server, bench.folder, { source: path, format: FORMATS[format] });
  bench.say(`filling the mappings of ${format}`);
  await mapFeed(installation, shape);
  const pull = { script: scriptOf('pull'), args: [installation.configPath, 'acme'] };
  return { path, pull, close: () => installation.close() };
}

async function parseWhole(bench: Workbench): Promise<Measured> {
  const records = Math.min(bench.records, MOST_RECORDS_WHOLE);
  const path = await feedFile(bench, { records, seed: 1, changedPer10k: 0, format: 'json' }, 'json');
  const flags = ['--max-old-space-size=12000'];
  const result = await fastest(bench, { script: scriptOf('peers/json-parse'), args: [path], flags });
  return lineOf(PART, `JSON.parse, whole file of ${records}`, records, result, bytesOf(path));
}
