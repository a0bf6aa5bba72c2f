// The lower bound of sending: the same documents to the same site with the same concurrency, recording nothing.
import { Pool } from 'undici';
import { encodeSiteJob } from '../../src/site/xml/encode.ts';

const [origin, count, concurrency] = process.argv.slice(2) as [string, string, string];
const pool = new Pool(origin, { connections: Number(concurrency), pipelining: 1 });
const description = '<p>Team work care patient schedule weekly shift support client quality.</p>\n'.repeat(28);
let next = 0;
const startedAt = performance.now();
const lane = async () => {
  while (next < Number(count)) {
    const { xml } = encodeSiteJob({ number: `REQ-${next++}`, title: 'Registered Nurse', description });
    const { statusCode, body } = await pool.request({
      method: 'POST',
      path: '/jobs.xml',
      headers: { 'content-type': 'application/xml' },
      body: xml,
    });
    await body.text();
    if (statusCode !== 201) throw new Error(`the site answered ${statusCode}`);
  }
};
await Promise.all(Array.from({ length: Number(concurrency) }, lane));
console.log(JSON.stringify({ seconds: (performance.now() - startedAt) / 1000, sent: next }));
await pool.close();
