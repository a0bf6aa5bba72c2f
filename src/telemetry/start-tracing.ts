// Exports traces with OpenTelemetry, if its environment variables name a collector. Wraps the database driver before it is used.
import { setTimeout } from 'node:timers/promises';
import * as api from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { registerInstrumentations } from '@opentelemetry/instrumentation';
import { PgInstrumentation } from '@opentelemetry/instrumentation-pg';
import { UndiciInstrumentation } from '@opentelemetry/instrumentation-undici';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import { markTracing } from './spans.ts';

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
