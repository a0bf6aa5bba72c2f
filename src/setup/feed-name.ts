// Proposes the name of a feed from its address or file.
import { basename } from 'node:path';

/** Parts of addresses that say nothing about whose feed it is. */
const USUAL =
  /^(?:www|api|apis|boards?|boards-api|jobs?|careers?|karriere|feeds?|ats|app|apply|public|xml|json|rss|data|v\d+|com|org|net|io|co|list|postings|positions|api-gateway|index|export|wday|cxs|en|us|en-us)$/i;

export function proposeFeedName(address: string): string {
  if (!/^https?:/i.test(address) || !URL.canParse(address))
    return named(basename(address).replace(/(?:\.\w{1,5})+$/, ''));
  const { hostname, pathname } = new URL(address);
  // The customer of a shared host is in the path, or in front of the host's own name.
  const hostParts = hostname.split('.');
  const ownHost = hostParts.length > 2 ? hostParts.slice(0, -2).filter((part) => !USUAL.test(part)) : [];
  const pathParts = pathname
    .split('/')
    .map((part) => part.replace(/\.(?:xml|json|rss|csv|html?|gz|zip)$/i, ''))
    .filter((part) => part !== '' && !USUAL.test(part) && !/^\d+$/.test(part));
  return named(ownHost[0] ?? (SHARED_HOSTS.test(hostname) ? pathParts[0] : undefined) ?? hostParts.at(-2) ?? hostname);
}

/** Hosts of many employers. */
const SHARED_HOSTS =
  /(?:greenhouse\.io|lever\.co|ashbyhq\.com|smartrecruiters\.com|workable\.com|recruitee\.com|rippling\.com|comeet\.co|personio\.(?:de|com))$/i;

/** A name that the configuration accepts. */
function named(text: string): string {
  const name = text
    .toLowerCase()
    .replaceAll(/[^a-z0-9_-]+/g, '-')
    .replaceAll(/^[^a-z]+|-+$/g, '')
    .slice(0, 40);
  return name === '' ? 'feed' : name;
}
