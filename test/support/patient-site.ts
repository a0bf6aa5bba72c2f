// Settings of a site for tests that count requests or doubts: a slow machine must cause none.

/**
 * @param seconds how long a response may take. A doubt is resolved just after that, so doubts that a test causes take as long.
 * @param concurrency requests at a time
 */
export const patientSite = (seconds: number, concurrency = 4) => ({
  limits: `{ requests_per_second: 5000, concurrency: ${concurrency}, timeout_seconds: ${seconds} }`,
  doubts: `{ resolve_after_seconds: ${seconds + 0.5} }`,
});
