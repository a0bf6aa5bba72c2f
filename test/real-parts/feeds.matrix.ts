// Real writers of XML and JSON in other languages: `init` recognises what they write of a list of jobs, and each posting is mirrored as it was.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { runProgram } from '../cli/run-program.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { openMirror } from '../support/mirror.ts';
import { completePackages, runScript, unpackPackages } from './packages.ts';
import { cellKey, writeSection } from './seen.ts';

interface Job {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly city: string;
  readonly state: string;
  readonly posted: string;
  readonly pay: number;
  readonly remote: boolean;
  readonly category: string | null;
  readonly tags: readonly string[];
}

const job = (id: string, more: Partial<Job>): Job => ({
  id,
  title: `Nurse ${id}`,
  description: '<p>Work</p>',
  city: 'Boston',
  state: 'MA',
  posted: '2026-10-01T09:30:00Z',
  pay: 1000000,
  remote: true,
  category: null,
  tags: [],
  ...more,
});
const JOBS: readonly Job[] = [
  job('007', {
    title: 'R&D <lead>, "nights"',
    description: '<p>a[b[0]] > 1 &amp; more</p>\n<p>second</p>',
    tags: ['one'],
  }),
  job('12345678901234567', { category: 'Care', remote: false, tags: ['one', 'two'] }),
  job('r-3', { pay: 20.1, title: 'Cook, Zürich style' }),
];
/** What the writers are given: all jobs, all but the first, and the last one alone. */
const LISTS = { all: JOBS, 'without the first': JOBS.slice(1), 'only the last': JOBS.slice(2) } as const;

interface Writer {
  /** The package whose version is shown, and others. */
  readonly packages: readonly string[];
  /** A script of the shell that reads the list in `$list.json` and prints the feed. */
  readonly script: string;
}

const php = (code: string): Writer => ({
  packages: ['php8.2-xml', 'php8.2-cli'],
  script: `cat >program.php <<'PROGRAM'
<?php
$jobs = json_decode(file_get_contents($argv[1]), true);
${code}
PROGRAM
php8.2 -n -d extension=dom -d extension=simplexml -d extension=xmlwriter program.php $list.json`,
});
const ruby = (packages: readonly string[], code: string): Writer => ({
  packages,
  script: `cat >program.rb <<'PROGRAM'
require 'json'
jobs = JSON.parse(File.read(ARGV[0]))
${code}
PROGRAM
ruby -W0 program.rb $list.json`,
});
const go = (code: string): Writer => ({
  packages: ['golang-1.19-go', 'golang-1.19-src'],
  script: `cat >program.go <<'PROGRAM'
package main

import "encoding/json"
import "encoding/xml"
import "fmt"
import "os"

type Job struct {
	XMLName     xml.Name \`json:"-" xml:"job"\`
	Id          string   \`json:"id" xml:"id,attr"\`
	Title       string   \`json:"title" xml:"title"\`
	Description string   \`json:"description" xml:"description"\`
	City        string   \`json:"city" xml:"location>city"\`
	Pay         float64  \`json:"pay" xml:"pay"\`
	State       string   \`json:"state" xml:"location>state"\`
	Posted      string   \`json:"posted" xml:"posted"\`
	Remote      bool     \`json:"remote" xml:"remote"\`
	Category    *string  \`json:"category" xml:"category"\`
	Tags        []string \`json:"tags" xml:"tags>tag"\`
}

func main() {
	var jobs []Job
	text, _ := os.ReadFile(os.Args[1])
	json.Unmarshal(text, &jobs)
${code}
}

var _ = xml.Header
PROGRAM
export GOCACHE="$PWD/cache" GOPATH="$PWD/go" GO111MODULE=off GOPROXY=off GOROOT=/usr/lib/go-1.19
test -e program || go build -o program program.go
./program $list.json`,
});
const java = (code: string): Writer => ({
  packages: [
    'openjdk-17-jdk-headless',
    'openjdk-17-jre-headless',
    'libjaxb-java',
    'libjackson2-dataformat-xml-java',
    'libjackson2-databind-java',
  ],
  script: `cat >Program.java <<'PROGRAM'
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.util.List;
import javax.xml.bind.annotation.*;

public class Program {
  @XmlRootElement(name = "job")
  @XmlAccessorType(XmlAccessType.FIELD)
  public static class Job {
    public String id, title, description, city, state, posted, category;
    public double pay;
    public boolean remote;
    public List<String> tags;
  }

  @XmlRootElement(name = "jobs")
  @XmlAccessorType(XmlAccessType.FIELD)
  public static class Jobs {
    public Job[] job;
  }

  public static void main(String[] arguments) throws Exception {
    Jobs jobs = new Jobs();
    jobs.job = new ObjectMapper().readValue(new File(arguments[0]), Job[].class);
${code}
  }
}
PROGRAM
classes="$(printf '%s:' /usr/share/java/*.jar)"
test -e Program.class || javac -cp "$classes" Program.java
java -cp "$classes$PWD" Program $list.json`,
});
/** Mono is what Debian has of .NET. */
const csharp = (code: string): Writer => ({
  packages: [
    'mono-mcs',
    'mono-runtime',
    'libmono-system-xml4.0-cil',
    'libmono-system-xml-linq4.0-cil',
    'libmono-system-runtime-serialization4.0-cil',
  ],
  script: `cat >Program.cs <<'PROGRAM'
using System;
using System.IO;
using System.Linq;
using System.Runtime.Serialization;
using System.Runtime.Serialization.Json;
using System.Xml;
using System.Xml.Linq;
using System.Xml.Serialization;

[DataContract(Name = "job", Namespace = "")]
[XmlType("job")]
public class Job {
  [DataMember] [XmlAttribute] public string id;
  [DataMember] public string title;
  [DataMember] public string description;
  [DataMember] public string city;
  [DataMember] public string state;
  [DataMember] public string posted;
  [DataMember] public decimal pay;
  [DataMember] public bool remote;
  [DataMember] public string category;
  [DataMember] [XmlArrayItem("tag")] public string[] tags;
}

[DataContract(Name = "jobs", Namespace = "")]
public class Jobs { [DataMember] public Job[] jobs; }

public static class Program {
  public static void Main(string[] arguments) {
    var jobs = (Job[])new DataContractJsonSerializer(typeof(Job[])).ReadObject(File.OpenRead(arguments[0]));
    var output = Console.OpenStandardOutput();
${code}
  }
}
PROGRAM
test -e Program.exe || mcs -r:System.Xml -r:System.Xml.Linq -r:System.Runtime.Serialization Program.cs >&2
mono Program.exe $list.json`,
});
const python = (packages: readonly string[], code: string): Writer => ({
  packages,
  script: `cat >program.py <<'PROGRAM'
import json, sys
jobs = json.load(open(sys.argv[1]))
${code}
PROGRAM
python3.11 -W ignore program.py $list.json`,
});
/** Django's, with the place in elements of its own, as its documentation shows for what the formats lack. */
const feedgenerator = (format: string): Writer =>
  python(
    ['python3-feedgenerator', 'python3-tz', 'python3-six'],
    `import feedgenerator
class Jobs(feedgenerator.${format}):
    def root_attributes(self):
        return {**super().root_attributes(), 'xmlns:job': 'https://jobs.example.com/terms'}
    def add_item_elements(self, handler, item):
        super().add_item_elements(handler, item)
        for name in ('city', 'state'): handler.addQuickElement('job:' + name, item[name])
feed = Jobs(title='Jobs', link='https://jobs.example.com/', description='All jobs')
for job in jobs:
    feed.add_item(title=job['title'], link='https://jobs.example.com/' + job['id'], description=job['description'],
        unique_id=job['id'], categories=job['tags'], city=job['city'], state=job['state'])
print(feed.writeString('utf-8'))`,
  );
const perl = (packages: readonly string[], code: string): Writer => ({
  packages,
  script: `cat >program.pl <<'PROGRAM'
use JSON::PP; use open qw(:std :utf8);
local $/; open(my $file, '<:raw', $ARGV[0]); my $jobs = decode_json(<$file>);
${code}
PROGRAM
perl program.pl $list.json`,
});
const npm = (code: string): Writer => ({
  packages: [],
  script: `cat >program.cjs <<'PROGRAM'
const jobs = JSON.parse(require('node:fs').readFileSync(process.argv[2], 'utf8'));
(async () => {
${code}
})();
PROGRAM
node program.cjs $list.json`,
});
const postgres = (select: string): Writer => ({
  packages: ['postgresql-client-15'],
  script: `psql -qXAt "$DATABASE" -v list="$(cat $list.json)" <<'SQL'
create temp table jobs as select * from jsonb_to_recordset(:'list') as job
  (id text, title text, description text, city text, state text, posted timestamptz, pay numeric, remote boolean, category text);
${select}
SQL`,
});

/** With the version that is installed. */
const NPM = {
  'fast-xml-parser': '5.12.1',
  xmlbuilder2: '4.0.3',
  xml2js: '0.6.2',
  js2xmlparser: '5.0.0',
  jstoxml: '7.1.1',
  'object-to-xml': '2.0.0',
} as const;

const WRITERS: Readonly<Record<string, Writer>> = {
  'PHP, SimpleXML': php(`$xml = new SimpleXMLElement('<jobs/>');
foreach ($jobs as $job) {
  $element = $xml->addChild('job');
  foreach ($job as $name => $value) {
    if (is_array($value)) foreach ($value as $each) $element->addChild($name)[0] = $each;
    else $element->$name = $value;
  }
}
echo $xml->asXML();`),
  'PHP, XMLWriter': php(`$xml = new XMLWriter();
$xml->openMemory();
$xml->startDocument('1.0', 'UTF-8');
$xml->startElement('jobs');
foreach ($jobs as $job) {
  $xml->startElement('job');
  $xml->writeAttribute('id', $job['id']);
  foreach ($job as $name => $value) {
    if ($name === 'description') {
      $xml->startElement($name);
      $xml->writeCdata($value);
      $xml->endElement();
    } else if ($name !== 'id' && !is_array($value)) $xml->writeElement($name, $value);
  }
  $xml->endElement();
}
$xml->endElement();
echo $xml->outputMemory();`),
  'PHP, DOM': php(`$document = new DOMDocument('1.0');
$root = $document->appendChild($document->createElement('jobs'));
foreach ($jobs as $job) {
  $element = $root->appendChild($document->createElement('job'));
  foreach ($job as $name => $value)
    if (!is_array($value)) $element->appendChild($document->createElement($name))->appendChild($document->createTextNode($value ?? ''));
}
echo $document->saveXML();`),
  'PHP, json_encode': php(`echo json_encode(['jobs' => $jobs]);`),
  'PHP, array_filter': php(`$all = json_decode(file_get_contents('all.json'), true);
$ids = array_column($jobs, 'id');
echo json_encode(['jobs' => array_filter($all, fn ($job) => in_array($job['id'], $ids, true))]);`),
  'PHP, array_filter alone': php(`$all = json_decode(file_get_contents('all.json'), true);
$ids = array_column($jobs, 'id');
echo json_encode(array_filter($all, fn ($job) => in_array($job['id'], $ids, true)));`),
  'PHP, XML to JSON': php(`$xml = new SimpleXMLElement('<jobs/>');
foreach ($jobs as $job) {
  $element = $xml->addChild('job');
  foreach ($job as $name => $value) if (!is_array($value)) $element->$name = $value;
}
echo json_encode(simplexml_load_string($xml->asXML()));`),
  'Ruby, to_xml': ruby(
    ['ruby-activesupport', 'ruby-builder', 'ruby-concurrent', 'ruby-i18n', 'ruby-tzinfo'],
    `require 'active_support/all'
puts jobs.map { |job| job.merge('posted' => Time.iso8601(job['posted'])) }.to_xml(root: 'jobs')`,
  ),
  'Ruby, builder': ruby(
    ['ruby-builder'],
    `require 'builder'
xml = Builder::XmlMarkup.new(indent: 2)
xml.instruct!
puts(xml.jobs do
  jobs.each do |job|
    xml.job(id: job['id']) do
      xml.title job['title']
      xml.description { xml.cdata! job['description'] }
      xml.location { xml.city job['city']; xml.state job['state'] }
      xml.category job['category']
      job['tags'].each { |tag| xml.tag tag }
    end
  end
end)`,
  ),
  'Ruby, Gyoku': ruby(['ruby-gyoku', 'ruby-builder'], `require 'gyoku'\nputs Gyoku.xml(jobs: { job: jobs })`),
  'Go, encoding/xml': go(`	text, _ = xml.MarshalIndent(struct {
		XMLName xml.Name \`xml:"jobs"\`
		Jobs    []Job
	}{Jobs: jobs}, "", "  ")
	fmt.Println(xml.Header + string(text))`),
  'Go, encoding/json': go(`	text, _ = json.Marshal(jobs)
	fmt.Println(string(text))`),
  'Java, JAXB':
    java(`    javax.xml.bind.Marshaller marshaller = javax.xml.bind.JAXBContext.newInstance(Jobs.class).createMarshaller();
    marshaller.marshal(jobs, System.out);`),
  'Java, DOM':
    java(`    org.w3c.dom.Document document = javax.xml.parsers.DocumentBuilderFactory.newInstance().newDocumentBuilder().newDocument();
    org.w3c.dom.Element root = document.createElement("jobs");
    document.appendChild(root);
    for (Job job : jobs.job) {
      org.w3c.dom.Element element = document.createElement("job");
      root.appendChild(element);
      for (java.lang.reflect.Field field : Job.class.getFields()) {
        org.w3c.dom.Element child = document.createElement(field.getName());
        child.setTextContent(String.valueOf(field.get(job)));
        element.appendChild(child);
      }
    }
    javax.xml.transform.Transformer transformer = javax.xml.transform.TransformerFactory.newInstance().newTransformer();
    transformer.setOutputProperty("indent", "yes");
    transformer.transform(new javax.xml.transform.dom.DOMSource(document), new javax.xml.transform.stream.StreamResult(System.out));`),
  'Java, Jackson XML': java(
    `    System.out.println(new com.fasterxml.jackson.dataformat.xml.XmlMapper().writeValueAsString(jobs.job));`,
  ),
  'Java, Jackson JSON': java(`    System.out.println(new ObjectMapper().writeValueAsString(jobs));`),
  'Mono, XmlWriter': csharp(`    using (var xml = XmlWriter.Create(output, new XmlWriterSettings { Indent = true })) {
      xml.WriteStartElement("jobs");
      foreach (var job in jobs) {
        xml.WriteStartElement("job");
        xml.WriteElementString("id", job.id);
        xml.WriteElementString("title", job.title);
        xml.WriteStartElement("description");
        xml.WriteCData(job.description);
        xml.WriteEndElement();
        xml.WriteElementString("city", job.city);
        xml.WriteElementString("state", job.state);
        xml.WriteElementString("category", job.category);
        xml.WriteElementString("pay", XmlConvert.ToString(job.pay));
        xml.WriteEndElement();
      }
    }`),
  'Mono, XmlSerializer': csharp(
    `    new XmlSerializer(typeof(Job[]), new XmlRootAttribute("jobs")).Serialize(output, jobs);`,
  ),
  'Mono, LINQ to XML':
    csharp(`    Console.WriteLine(new XDocument(new XElement("jobs", jobs.Select(job => new XElement("job",
      new XAttribute("id", job.id), new XElement("title", job.title), new XElement("description", job.description),
      new XElement("location", new XElement("city", job.city), new XElement("state", job.state)),
      new XElement("remote", job.remote), new XElement("category", job.category))))));`),
  'Mono, DataContractSerializer': csharp(
    `    new DataContractSerializer(typeof(Jobs)).WriteObject(output, new Jobs { jobs = jobs });`,
  ),
  'Mono, DataContractJsonSerializer': csharp(
    `    new DataContractJsonSerializer(typeof(Jobs)).WriteObject(output, new Jobs { jobs = jobs });`,
  ),
  'Python, ElementTree': python(
    ['python3.11'],
    `import xml.etree.ElementTree as tree
root = tree.Element('jobs')
for job in jobs:
    element = tree.SubElement(root, 'job')
    for name, value in job.items():
        tree.SubElement(element, name).text = None if value is None else str(value)
tree.ElementTree(root).write(sys.stdout.buffer, encoding='utf-8', xml_declaration=True)`,
  ),
  'Python, minidom': python(
    ['python3.11'],
    `import xml.etree.ElementTree as tree
from xml.dom import minidom
root = tree.Element('jobs')
for job in jobs:
    element = tree.SubElement(root, 'job', id=job['id'])
    for name, value in job.items():
        if name != 'id' and value: tree.SubElement(element, name).text = str(value)
print(minidom.parseString(tree.tostring(root)).toprettyxml(indent='  '))`,
  ),
  'Python, dicttoxml': python(
    ['python3-dicttoxml', 'python3-defusedxml'],
    `import dicttoxml
print(dicttoxml.dicttoxml(jobs, custom_root='jobs').decode())`,
  ),
  'Python, xmltodict': python(
    ['python3-xmltodict'],
    `import xmltodict
print(xmltodict.unparse({'jobs': {'job': jobs}}))`,
  ),
  'Python, XML to JSON': python(
    ['python3-xmltodict'],
    `import xmltodict
print(json.dumps(xmltodict.parse(xmltodict.unparse({'jobs': {'job': jobs}}))))`,
  ),
  'Python, json': python(['python3.11'], `json.dump({'jobs': jobs}, sys.stdout, indent=2)`),
  'feedgenerator, RSS': feedgenerator('Rss201rev2Feed'),
  'feedgenerator, Atom': feedgenerator('Atom1Feed'),
  'pandas, to_xml': python(
    ['python3-pandas', 'python3-lxml'],
    `import pandas
print(pandas.DataFrame(jobs).drop(columns='tags').to_xml(index=False, root_name='jobs', row_name='job'))`,
  ),
  'pandas, to_json': python(
    ['python3-pandas'],
    `import pandas
print(pandas.DataFrame(jobs).to_json(orient='records'))`,
  ),
  'Perl, XML::Simple': perl(
    ['libxml-simple-perl', 'libxml-sax-perl', 'libxml-namespacesupport-perl', 'libxml-sax-base-perl'],
    `use XML::Simple;
$_->{remote} = $_->{remote} ? 'true' : 'false' for @$jobs;
print XMLout({ job => $jobs }, RootName => 'jobs');`,
  ),
  'Perl, XML::Writer': perl(
    ['libxml-writer-perl'],
    `use XML::Writer;
my $xml = XML::Writer->new(OUTPUT => 'self', DATA_MODE => 1, DATA_INDENT => 1);
$xml->startTag('jobs');
for my $job (@$jobs) {
  $xml->startTag('job', id => $job->{id});
  $xml->dataElement($_, $job->{$_}) for grep { !ref $job->{$_} } qw(title description city state category);
  $xml->endTag;
}
$xml->endTag;
print $xml->to_string;`,
  ),
  'fast-xml-parser': npm(`console.log(new (require('fast-xml-parser').XMLBuilder)().build({ jobs: { job: jobs } }));`),
  xmlbuilder2: npm(`console.log(require('xmlbuilder2').create({ jobs: { job: jobs } }).end({ prettyPrint: true }));`),
  xml2js: npm(`console.log(new (require('xml2js').Builder)({ cdata: true }).buildObject({ jobs: { job: jobs } }));`),
  js2xmlparser: npm(`console.log(require('js2xmlparser').parse('jobs', { job: jobs }));`),
  jstoxml: npm(`console.log(require('jstoxml').toXML({ jobs: jobs.map((job) => ({ job })) }));`),
  'object-to-xml': npm(`console.log(require('object-to-xml')({ jobs: { job: jobs } }));`),
  'Postgres, query_to_xml': postgres(
    `select query_to_xml('select id, title as "job title", description, city, state, posted, pay, remote, category from jobs', true, false, '');`,
  ),
  'Postgres, json_agg': postgres('select json_agg(jobs) from jobs;'),
};
const NAMES = Object.keys(WRITERS);
const COLUMNS = ['recognised', ...Object.keys(LISTS)] as const;

const ROOT = join(tmpdir(), 'jobmirror-real-parts/feeds');
const cells = new Map<string, string>();
let versions: Readonly<Record<string, string>>;
let work: string;
let database: TestDatabase;
beforeAll(async () => {
  versions = unpackPackages(ROOT, [...new Set(Object.values(WRITERS).flatMap(({ packages }) => packages))]);
  completePackages(ROOT);
  work = mkdtempSync(join(tmpdir(), 'jobmirror-feeds-'));
  writeFileSync(join(work, 'package.json'), '{ "private": true }');
  const packages = Object.entries(NPM).map(([name, version]) => `${name}@${version}`);
  await runScript(ROOT, `npm install --silent --ignore-scripts --no-audit --no-fund ${packages.join(' ')}`, {
    cwd: work,
  });
  database = await createTestDatabase({ empty: true });
});
afterAll(async () => {
  const shown = [...new Set(Object.values(WRITERS).flatMap(({ packages: [first] }) => first ?? []))];
  writeSection({
    title: 'Behind writers of XML and JSON',
    law: `Three jobs are written by each, as its users would: with markup, a key of 17 digits, an empty value and lists. \`init\` proposes the format of the first column from all three; its configuration then mirrors all, all but the first, and the last one alone. \`right\`: each posting has its key and texts, and exactly the jobs of those that were left out are deleted.`,
    versions: { ...Object.fromEntries(shown.map((name) => [name, versions[name] ?? ''])), ...NPM },
    rows: NAMES,
    columns: COLUMNS,
    cells,
    unit: 'row',
  });
  rmSync(work, { recursive: true, force: true });
  await database.drop();
});

/** What a writer loses by itself, and what of it a cell shows. */
const LOSSES: Readonly<Record<string, readonly [lost: RegExp, instead: string, shown: string]>> = {
  // Takes a text with `&amp;` for one that is escaped already.
  xmlbuilder2: [/&amp;/g, '&', '`&` for `&amp;`'],
  jstoxml: [/&amp;/g, '&', '`&` for `&amp;`'],
  // Writes texts as attributes, whose line breaks are blanks for every reader (XML 1.0, 3.3.3).
  'Perl, XML::Simple': [/\n/g, ' ', 'a blank for a line break'],
};

const wanted = (jobs: readonly Job[], [lost, instead]: readonly [RegExp, string, string] = [/^$/, '', '']) =>
  jobs
    .map(({ id, title, description }) => ({ number: id, title, description: description.replace(lost, instead) }))
    .sort((a, b) => (a.number < b.number ? -1 : 1));

it.concurrent.each(NAMES)('%s', async (name) => {
  const { script } = WRITERS[name] as Writer;
  const folder = join(work, name.replaceAll(/\W+/g, '-'));
  mkdirSync(folder);
  for (const [list, jobs] of Object.entries(LISTS))
    writeFileSync(join(folder, `${fileOf(list)}.json`), JSON.stringify(jobs));
  await runScript(
    ROOT,
    `ln -s ../node_modules .\nfor list in ${Object.keys(LISTS).map(fileOf).join(' ')}; do {\n${script}\n} >$list.feed; done`,
    { cwd: folder, env: { DATABASE: database.url } },
  );
  const feedOf = (list: string) => readFileSync(join(folder, `${fileOf(list)}.feed`));
  writeFileSync(join(folder, 'acme'), feedOf('all'));
  const installation = { folder, configPath: join(folder, 'jobmirror.yaml'), env: {} };
  const begun = await runProgram(installation, 'init', 'acme', '--site', 'https://jobs.example.com', '--name', 'acme');
  const context = `${begun.errors}\n${feedOf('all')}`;
  expect(begun.status, context).toBe(0);
  const { acme } = parse(readFileSync(installation.configPath, 'utf8')).feeds;
  const { format } = acme;
  cells.set(
    cellKey(name, 'recognised'),
    typeof format === 'string'
      ? `\`${format}\``
      : `${format.type}${format.records === undefined ? '' : `, \`${format.records}\``}`,
  );
  const settings = Object.entries({ ...acme, delete_guard: { percent: 100, count: 100 } });
  const mirror = await openMirror({
    feed: {
      ...Object.fromEntries(settings.map(([setting, value]) => [setting, JSON.stringify(value)])),
      site: 'board',
      source: 'feed.xml',
    },
  });
  try {
    let before = 0;
    for (const [list, jobs] of Object.entries(LISTS)) {
      await mirror.writeFeed(feedOf(list));
      const report = await mirror.sync();
      const have = [...(await mirror.siteJobs()).values()].map(({ number, title, description }) => ({
        number,
        title,
        description,
      }));
      const shown = `${feedOf(list)}\n${JSON.stringify(report)}`;
      expect(
        have.sort((a, b) => ((a.number ?? '') < (b.number ?? '') ? -1 : 1)),
        shown,
      ).toEqual(wanted(jobs, LOSSES[name]));
      expect(report, shown).toMatchObject({ complete: true, deleted: Math.max(0, before - jobs.length), updated: 0 });
      before = jobs.length;
      cells.set(cellKey(name, list), LOSSES[name]?.[2] ?? 'right');
    }
  } finally {
    await mirror.close();
  }
});

const fileOf = (list: string): string => list.replaceAll(' ', '-');
