// Marks what the process does as spans of OpenTelemetry. Without an SDK, which `start-tracing.ts` loads on request, this costs nothing.
import { type Attributes, SpanStatusCode, trace } from '@opentelemetry/api';

/** The name under which our own spans are found. */
const TRACER = 'jobmirror';

let isOn = false;

/** Whether spans are exported. */
export const isTracing = (): boolean => isOn;

/** Called once, by `start-tracing.ts`. */
export function markTracing(): void {
  isOn = true;
}

/** Runs it within a span, which also holds the spans of its queries and requests. The span states a failure, without its message. */
export async function inSpan<T>(name: string, attributes: Attributes, run: () => Promise<T>): Promise<T> {
  if (!isOn) return run();
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
