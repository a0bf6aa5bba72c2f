// Describes a network error in words; the error object goes no further.
import { ProxyFailure, type ProxyRoute } from '../../flow/proxy.ts';

const explanations: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused; is the site running at this address?',
  ENOTFOUND: 'the host name is not known; check base_url',
  EAI_AGAIN: 'the host name could not be resolved at the moment',
  ETIMEDOUT: 'the connection could not be opened in time',
  UND_ERR_CONNECT_TIMEOUT: 'the connection could not be opened in time',
  EHOSTUNREACH: 'there is no route to the host',
  ENETUNREACH: 'there is no route to the network',
  ECONNRESET: 'the connection was reset',
  EPIPE: 'the connection was closed while sending',
  UND_ERR_SOCKET: 'the connection was closed',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate of the site is self-signed; NODE_EXTRA_CA_CERTS can name it',
  SELF_SIGNED_CERT_IN_CHAIN:
    'the certificate of the site comes from an unknown authority; NODE_EXTRA_CA_CERTS can name it',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    'the certificate of the site cannot be verified; NODE_EXTRA_CA_CERTS can name its issuer',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    'the certificate of the site comes from an unknown authority; NODE_EXTRA_CA_CERTS can name it',
  CERT_NOT_YET_VALID: 'the certificate of the site is not valid yet by the clock of this machine',
  ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED: 'the site wants a client certificate, and none can be sent to a site',
  CERT_HAS_EXPIRED: 'the certificate of the site has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate of the site is for another host name',
};

/** Describes a network error: what happened in words, then the error's code and own message, cut to 300 characters. */
export function describeTrouble(error: Error, route?: ProxyRoute): string {
  if (error instanceof ProxyFailure) return error.message;
  const code = 'code' in error && error.code !== undefined ? String(error.code) : error.name;
  // If several addresses were tried, the message of the aggregate is empty.
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  const message = first instanceof Error ? first.message : '';
  // OpenSSL puts addresses of its memory and lines of its source around its reason.
  const [, alert] = /:SSL routines:[^:]*:([^:]+)/.exec(message) ?? [];
  return `${explain(code, message, alert)} (${code}: ${(alert ?? message).slice(0, 300)})${throughProxy(route)}`;
}

/** The proxy may be the cause. */
export const throughProxy = (route: ProxyRoute | undefined): string =>
  route === undefined ? '' : `, through ${route.name}`;

function explain(code: string, message: string, alert: string | undefined): string {
  if (Object.hasOwn(explanations, code)) return explanations[code] as string;
  if (alert !== undefined) return 'no encrypted connection could be agreed on';
  if (code.startsWith('HPE_') || /Expected HTTP/.test(message))
    return 'the answer is not HTTP/1.1; check the scheme and the port of base_url';
  return 'the connection failed';
}

// Deadlines that changing the system clock cannot extend.

/** A moment after which something must no longer start. */
export interface Deadline {
  passed(): boolean;
}

/** The moment `ms` from now; `Infinity`: never. */
export function deadlineIn(ms: number): Deadline {
  // The steady clock cannot be set, but may stop while the machine sleeps; the system clock continues then.
  const steady = performance.now() + ms;
  const clock = Date.now() + ms;
  return { passed: () => performance.now() > steady || Date.now() > clock };
}
