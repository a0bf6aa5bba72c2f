// Builds the site that the program uses from its written settings, and reads its token.
import type { SiteName } from '../../posting/identifiers.ts';
import { SHORT_SECRET } from '../../posting/secret-pattern.ts';
import type { SiteConfig } from '../config.ts';
import { readSecret, type SecretSettings } from '../read-secret.ts';
import type { WrittenSite } from '../schema/site-schema.ts';

/** Returns `undefined` after a complaint. */
export async function makeSiteConfig(
  name: SiteName,
  written: WrittenSite,
  around: SecretSettings,
): Promise<SiteConfig | undefined> {
  const token = await readSecret(written, [[], 'token'], around, (text, setting) => {
    const fault = tokenFault(text);
    if (fault === undefined && text.length < SHORT_SECRET) around.warn(shortToken(name, setting, text.length));
    return fault;
  });
  if (token === undefined) return undefined;
  const timeoutMs = written.limits.timeout_seconds * 1000;
  const {
    resolve_after_seconds: resolveAfterSeconds = written.doubts.settle_after_seconds,
    list_checks: listChecks = written.doubts.looks ?? 2,
    escalate_after_minutes: escalateAfterMinutes,
  } = written.doubts;
  return {
    name,
    options: {
      baseUrl: new URL(written.base_url),
      token,
      resource: written.resource,
      referenceField: written.reference_field,
      listPath: written.list_path,
      accountPath: written.account_path,
      timeoutMs,
      concurrency: written.limits.concurrency,
    },
    stateField: written.state_field,
    requestsPerSecond: written.limits.requests_per_second,
    retry: {
      attempts: written.retry.attempts,
      firstDelayMs: written.retry.first_delay_seconds * 1000,
      maxDelayMs: written.retry.max_delay_seconds * 1000,
    },
    doubts: {
      resolveAfterMs: resolveAfterSeconds === undefined ? Math.max(15_000, 2 * timeoutMs) : resolveAfterSeconds * 1000,
      listChecks,
      escalateAfterMs: escalateAfterMinutes * 60_000,
    },
    canary: written.canary,
    onMissing: written.on_missing,
    omittedFields: written.omitted_fields,
  };
}

const shortToken = (name: SiteName, setting: string, length: number): string =>
  `sites.${name}.${setting}: the token has only ${length} character${length === 1 ? '' : 's'}. Such a short text also occurs in IDs and other texts by chance, so ` +
  `it is not removed everywhere from what is logged and stored; use a token of ${SHORT_SECRET} characters or more`;

function tokenFault(token: string): string | undefined {
  if (token === '') return 'the token is empty';
  if (/\s|\p{Cc}/u.test(token))
    return 'the token holds a space or a control character; it was probably not copied right';
  // The token is the user name of HTTP Basic, which ends at the first colon (RFC 7617, section 2).
  if (token.includes(':'))
    return 'the token holds a colon, which HTTP Basic cannot carry; use the token alone, without user name or password';
  return undefined;
}
