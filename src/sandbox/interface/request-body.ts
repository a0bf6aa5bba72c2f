// Reads request bodies up to the site's size limit. Both a fault and the site may request the same body.
import type { Context } from 'hono';
import type { JobSite, SiteEnv } from '../job-site.ts';
import { MAX_BODY } from '../request-log.ts';

/** The whole body; it is read only once. */
export function readBody(c: Context<SiteEnv>, site: JobSite): Promise<Uint8Array | 'too-large'> {
  const known = c.get('body');
  if (known) return known;
  const reading = receive(c, site.settings().maxBodyBytes).then((body) => {
    if (body !== 'too-large' && body.length > 0) {
      c.get('request').body = Buffer.from(body.subarray(0, MAX_BODY)).toString('utf8');
    }
    return body;
  });
  c.set('body', reading);
  return reading;
}

async function receive(c: Context<SiteEnv>, limit: number): Promise<Uint8Array | 'too-large'> {
  const { incoming } = c.env;
  if (Number(incoming.headers['content-length'] ?? 0) > limit) return 'too-large';
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of incoming as AsyncIterable<Buffer>) {
    length += piece.length;
    if (length > limit) return 'too-large';
    pieces.push(piece);
  }
  return Buffer.concat(pieces, length);
}
