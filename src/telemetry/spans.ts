// Marks what the process does as spans of OpenTelemetry. Without an SDK, which `start-tracing.ts` loads on request, this costs nothing.
import type * as OpenTelemetry from '@opentelemetry/api';

/** The name under which our own spans are found. */
export const TRACER = 'jobmirror';

/** Loaded only if spans are exported. */
let api: typeof OpenTelemetry | undefined;

/** Whether spans are exported. */
export const isTracing = (): boolean => api !== undefined;

/** Called once, by `start-tracing.ts`. */
export function markTracing(loaded: typeof OpenTelemetry): void {
  api = loaded;
}

/** Runs it within a span, which also holds the spans of its queries and requests. The span states a failure, without its message. */
export async function inSpan<T>(name: string, attributes: OpenTelemetry.Attributes, run: () => Promise<T>): Promise<T> {
  if (api === undefined) return run();
  const { SpanStatusCode, trace } = api;
  return trace.getTracer(TRACER).startActiveSpan(name, { attributes }, async (span) => {
    try {
      return await run();
    } catch (error) {
      // Messages may quote feeds and sites.
      span.setStatus({ code: SpanStatusCode.ERROR, message: error instanceof Error ? error.name : 'error' });
      throw error;
    } finally {
      span.end();
    }
  });
}

// Says whether the environment asks for traces (https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/).

export type TracingRequest =
  | { readonly kind: 'off' }
  | { readonly kind: 'on' }
  /** Traces are asked for in a way that is not supported. */
  | { readonly kind: 'unusable'; readonly message: string };

export function tracingRequest(env: Readonly<Record<string, string | undefined>>): TracingRequest {
  const isDisabled = env.OTEL_SDK_DISABLED?.trim().toLowerCase() === 'true';
  const [endpointName, endpoint] = firstSet(env, ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT']);
  const exporter = env.OTEL_TRACES_EXPORTER?.trim() || (endpoint ? 'otlp' : 'none');
  if (isDisabled || exporter === 'none') return { kind: 'off' };
  if (exporter !== 'otlp') {
    return { kind: 'unusable', message: `OTEL_TRACES_EXPORTER: ${exporter} is not supported; set otlp, or none` };
  }
  if (endpoint !== undefined && !/^https?:$/.test(URL.canParse(endpoint) ? new URL(endpoint).protocol : '')) {
    return { kind: 'unusable', message: `${endpointName}: not an address such as http://127.0.0.1:4318` };
  }
  const [protocolName, protocol] = firstSet(env, ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'OTEL_EXPORTER_OTLP_PROTOCOL']);
  if (protocol === 'grpc') {
    const message = `${protocolName}: grpc is not supported; set http/json and the port for HTTP, usually 4318`;
    return { kind: 'unusable', message };
  }
  return { kind: 'on' };
}

/** The first of the variables that is set and not blank, with its value without surrounding blanks. */
function firstSet(env: Readonly<Record<string, string | undefined>>, names: readonly string[]) {
  const name = names.find((candidate) => env[candidate]?.trim());
  return [name, name === undefined ? undefined : env[name]?.trim()] as const;
}
