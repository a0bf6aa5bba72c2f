// Removes the credentials of a source from what it sends: some servers repeat the address that was requested, with its key.
import { SHORT_SECRET, secretReplacer } from '../../../posting/secret-pattern.ts';
import { keptAccessToken } from './access-token.ts';
import { type HttpConfig, httpDescriptions } from './http-config.ts';

/** Other headers, such as a company's name, may occur in any text. */
const SECRET_HEADER = /auth|cookie|token|key|secret|password/i;

/** Returns a function that replaces them in a text. Short ones remain: they would also be found where they mean nothing. */
export function secretMask(config: HttpConfig): (text: string) => string {
  const headers = Object.entries(config.headers).filter(([name]) => SECRET_HEADER.test(name));
  const fixed = [
    ...httpDescriptions.secretsOf({ ...config, headers: {} }),
    ...headers.map(([, value]) => value.reveal().replace(/^(?:Basic|Bearer)\s+/i, '')),
  ];
  const replacers = new Map<string, (text: string) => string>();
  const mask = (text: string, secret: string): string => {
    if (secret.length < SHORT_SECRET) return text;
    const replace = replacers.get(secret) ?? secretReplacer(secret, '[secret]');
    replacers.set(secret, replace);
    return replace(text);
  };
  const authorization = config.credentials?.authorization;
  return (text) => {
    const token = authorization?.kind === 'oauth2' ? keptAccessToken(authorization) : undefined;
    return [...fixed, ...(token === undefined ? [] : [token])].reduce(mask, text);
  };
}
