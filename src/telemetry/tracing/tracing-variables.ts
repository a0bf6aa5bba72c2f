// Says whether the environment asks for traces (https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/).

export type TracingRequest =
  | { readonly kind: 'off' }
  | { readonly kind: 'on' }
  /** Traces are asked for in a way that is not offered. */
  | { readonly kind: 'unusable'; readonly message: string };

export function tracingRequest(env: Readonly<Record<string, string | undefined>>): TracingRequest {
  const isDisabled = env.OTEL_SDK_DISABLED?.trim().toLowerCase() === 'true';
  const endpoint = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT?.trim() || env.OTEL_EXPORTER_OTLP_ENDPOINT?.trim();
  const exporter = env.OTEL_TRACES_EXPORTER?.trim() || (endpoint ? 'otlp' : 'none');
  if (isDisabled || exporter === 'none') return { kind: 'off' };
  if (exporter !== 'otlp') {
    return { kind: 'unusable', message: `OTEL_TRACES_EXPORTER: ${exporter} is not offered; set otlp, or none` };
  }
  if (endpoint !== undefined && !/^https?:$/.test(URL.canParse(endpoint) ? new URL(endpoint).protocol : '')) {
    return { kind: 'unusable', message: 'OTEL_EXPORTER_OTLP_ENDPOINT: not an address such as http://127.0.0.1:4318' };
  }
  const protocol = env.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL?.trim() || env.OTEL_EXPORTER_OTLP_PROTOCOL?.trim();
  if (protocol === 'grpc') {
    const message =
      'OTEL_EXPORTER_OTLP_PROTOCOL: grpc is not offered; set http/json and the port for HTTP, usually 4318';
    return { kind: 'unusable', message };
  }
  return { kind: 'on' };
}
