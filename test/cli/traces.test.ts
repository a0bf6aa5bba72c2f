// Traces of a sync, as a collector receives them, and that they hold no secret.
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type HttpReceiver, startReceiver } from '../support/http-receiver.ts';
import { feedXml, posting } from '../support/indeed-feed.ts';
import { openMirror } from '../support/mirror.ts';
import { openedForEach } from '../support/opened.ts';
import { startProgram } from './program.ts';
import { spawnProgram } from './run-program.ts';

const KEY = 'qu3ry-s3cret-of-the-list';
let collector: HttpReceiver;
const mirror = openedForEach(() => openMirror({ site: { list_path: `/jobs.xml?key=${KEY}` }, searched: true }));
beforeEach(async () => {
  await mirror.writeFeed(feedXml([posting('A-1'), posting('A-2')]));
  collector = await startReceiver();
  collector.answer = (response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
});
afterEach(() => collector.close());

interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly attributes: readonly { readonly key: string; readonly value: { readonly stringValue?: string } }[];
}

const spansOf = (received: HttpReceiver['received']): Span[] =>
  received.flatMap(({ body }) =>
    JSON.parse(body).resourceSpans.flatMap((resource: { scopeSpans: { spans: Span[] }[] }) =>
      resource.scopeSpans.flatMap(({ spans }) => spans),
    ),
  );

it('holds the pull, each change with its queries and its request, and the queue', async () => {
  const env = { ...mirror.env, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_SCHEDULE_DELAY: '100' };
  const { status, errors } = await spawnProgram({ ...mirror, env }, 'sync');
  expect([status, errors]).toEqual([0, expect.not.stringContaining('Error')]);
  expect(collector.received.every(({ path }) => path === '/v1/traces')).toBe(true);
  const spans = spansOf(collector.received);
  const byId = new Map(spans.map((span) => [span.spanId, span]));
  const textOf = ({ attributes }: Span, name: string) => attributes.find(({ key }) => key === name)?.value.stringValue;
  const within = (span: Span, name: string): boolean => {
    const parent = byId.get(span.parentSpanId ?? '');
    return parent !== undefined && (parent.name === name || within(parent, name));
  };
  expect(spans.filter(({ name }) => name === 'pull feed').map((span) => textOf(span, 'jobmirror.feed'))).toEqual([
    'acme',
  ]);
  const changes = spans.filter(({ name }) => name === 'apply change');
  expect(changes.map((span) => textOf(span, 'jobmirror.key')).sort()).toEqual(['A-1', 'A-2']);
  const requests = spans.filter((span) => textOf(span, 'http.request.method') === 'POST');
  expect(requests.map((span) => [textOf(span, 'url.full'), within(span, 'apply change')])).toEqual([
    [`${mirror.sandbox.url}/jobs.xml`, true],
    [`${mirror.sandbox.url}/jobs.xml`, true],
  ]);
  // Read before the first create, with Node's own client.
  const lists = spans.filter((span) => textOf(span, 'http.request.method') === 'GET');
  expect(lists.map((span) => [span.name, textOf(span, 'url.full')])).toContainEqual([
    'GET',
    `${mirror.sandbox.url}/jobs.xml`,
  ]);
  expect(spans.filter((span) => textOf(span, 'url.full')?.startsWith(collector.url))).toEqual([]);
  expect(spans.some((span) => /^pg/.test(span.name) && within(span, 'apply change'))).toBe(true);
  expect(spans.some((span) => /^pg/.test(span.name) && within(span, 'pull feed'))).toBe(true);
  expect(spans.some(({ attributes }) => attributes.some(({ key }) => key.startsWith('bullmq.')))).toBe(true);
  const text = collector.received.map(({ body }) => body).join();
  for (const secret of [KEY, mirror.env.BOARD_TOKEN as string]) expect(text).not.toContain(secret);
});

it('a collector that is away changes nothing', { tags: 'slow' }, async () => {
  const { url } = collector;
  await collector.close();
  collector = await startReceiver();
  const env = { ...mirror.env, OTEL_EXPORTER_OTLP_ENDPOINT: url };
  expect((await spawnProgram({ ...mirror, env }, 'sync')).status).toBe(0);
  expect((await mirror.siteJobs()).size).toBe(2);
});

it('a way of exporting that is not offered is named, and the work is done', { tags: 'slow' }, async () => {
  const env = { ...mirror.env, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' };
  const running = startProgram(['status', '--config', mirror.configPath], { cwd: mirror.folder, env });
  const { status } = await running.ended;
  expect([status, running.errors()]).toEqual([
    0,
    expect.stringContaining('no traces are exported: OTEL_EXPORTER_OTLP_PROTOCOL'),
  ]);
  expect(collector.received).toEqual([]);
});
