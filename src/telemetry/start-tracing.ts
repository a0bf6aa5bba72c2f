// Exports traces with OpenTelemetry, if its environment variables name a collector. Wraps the database driver before it is used.
import { subscribe } from 'node:diagnostics_channel';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import * as api from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { registerInstrumentations } from '@opentelemetry/instrumentation';
import { PgInstrumentation } from '@opentelemetry/instrumentation-pg';
import { UndiciInstrumentation } from '@opentelemetry/instrumentation-undici';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import { markTracing, TRACER } from './spans.ts';

/** A collector that does not answer must not hold up the end of a command. */
const FLUSH_WITHIN_MS = 3_000;

/**
 * Returns a function that sends what is left.
 * @param driver the modules of the database's driver by the names of their packages: the program's own, as it is bundled with them
 */
export function startTracing(driver: ReadonlyMap<string, unknown>): () => Promise<void> {
  const resource = defaultResource()
    .merge(resourceFromAttributes({ 'service.name': 'jobmirror' }))
    // OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES replace the name.
    .merge(detectResources({ detectors: [envDetector] }));
  // Address, headers and timeout are read from OTEL_EXPORTER_OTLP_…, the batches from OTEL_BSP_…, the sampler from OTEL_TRACES_SAMPLER.
  const provider = new NodeTracerProvider({
    resource,
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  });
  provider.register();
  // Without values. What polls or waits for work has no span around it, and makes none.
  const statements = new PgInstrumentation({
    requireParentSpan: true,
    enhancedDatabaseReporting: false,
    ignoreConnectSpans: true,
  });
  registerInstrumentations({
    tracerProvider: provider,
    instrumentations: [
      statements,
      new UndiciInstrumentation({
        requireParentforSpans: true,
        // A query may hold a key.
        requestHook(span, { origin, path }) {
          span.setAttributes({ 'url.full': `${originOf(origin)}${path.split('?')[0]}`, 'url.query': '' });
        },
      }),
    ],
  });
  subscribe(LIST_REQUESTS, (message) => markRequest((message as { request: ClientRequest }).request));
  for (const { name, patch } of statements.getModuleDefinitions()) patch?.(driver.get(name));
  markTracing(api);
  return async () => {
    const ended = provider.shutdown().catch(() => undefined);
    const waiting = new AbortController();
    await Promise.race([
      ended,
      setTimeout(FLUSH_WITHIN_MS, undefined, { signal: waiting.signal }).catch(() => undefined),
    ]);
    waiting.abort();
  };
}

/** Without a user and a password. */
const originOf = (text: string): string => (URL.canParse(text) ? new URL(text).origin : '');

/** Where `src/site/http/transport.ts` announces requests for lists, which it makes with Node's own client. */
const LIST_REQUESTS = 'jobmirror:list-request';

/** Marks it as the instrumentation of undici does. A list is read for many changes, so its span may have no parent. */
function markRequest(request: ClientRequest): void {
  const address = new URL(`${request.protocol}//${request.getHeader('host')}${request.path}`);
  const { origin, hostname, port, pathname, protocol } = address;
  const scheme = protocol.replace(':', '');
  const span = api.trace.getTracer(TRACER).startSpan(request.method, {
    kind: api.SpanKind.CLIENT,
    attributes: {
      'http.request.method': request.method,
      'http.request.method_original': request.method,
      'url.full': origin + pathname,
      'url.path': pathname,
      'url.query': '',
      'url.scheme': scheme,
      'server.address': hostname,
      'server.port': Number(port || (scheme === 'https' ? 443 : 80)),
      'user_agent.original': String(request.getHeader('user-agent') ?? ''),
    },
  });
  const fail = (type: string): void => {
    span.setAttribute('error.type', type);
    span.setStatus({ code: api.SpanStatusCode.ERROR });
  };
  request.once('response', ({ statusCode = 0, socket }: IncomingMessage) => {
    span.setAttributes({
      'http.response.status_code': statusCode,
      'network.peer.address': socket.remoteAddress,
      'network.peer.port': socket.remotePort,
      'network.protocol.version': '1.1',
    });
    if (statusCode >= 400) fail(String(statusCode));
  });
  // Without its message, which may quote the site.
  request.once('error', (error: NodeJS.ErrnoException) => fail(error.code ?? error.name));
  request.once('close', () => span.end());
}
