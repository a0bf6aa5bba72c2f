// The part of an address that may be shown and stored, and that stays the same: without secrets, and without what only counts visits.
import { isTrackingParameter } from '../../../posting/tracking-parameters.ts';

/** Parameters of a query whose values are secret, in lower case without separators. */
const SECRET_PARAMETER =
  /(?:key|token|secret|password|passwd|pwd|passphrase|signature|credentials?)$|^(?:auth|pass|sig|code|jwt)$/;
/** They look alike, and say what to list. */
const PLAIN_PARAMETER = /^(?:sort|order|group|page|next|continuation|cursor|job)(?:key|token)$/;

export function isSecretParameter(name: string): boolean {
  const plain = name.toLowerCase().replace(/[^a-z0-9]/g, '');
  return SECRET_PARAMETER.test(plain) && !PLAIN_PARAMETER.test(plain);
}

/** A shorter value is part of other texts by chance. */
const SHORTEST_SECRET = 4;

/**
 * Without user, password and fragment, and without parameters that are secret or only count visits.
 * @param secrets texts that may be secret, such as values of environment variables.
 */
export function publicAddress(address: string, secrets: Iterable<string> = []): string {
  const { origin, pathname, search } = new URL(address);
  const hidden = [...secrets].filter((secret) => secret.length >= SHORTEST_SECRET);
  const kept = search
    .slice(1)
    .split('&')
    .filter((parameter) => {
      const [[name = '', value = ''] = []] = new URLSearchParams(parameter);
      if (name === '' || isSecretParameter(name) || isTrackingParameter(parameter)) return false;
      return !hidden.some((secret) => value.includes(secret) || parameter.includes(secret));
    });
  return `${origin}${pathname}${kept.length === 0 ? '' : `?${kept.join('&')}`}`;
}
