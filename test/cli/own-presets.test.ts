// `jobmirror check` lists the user's own presets.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { type Mirror, openMirror } from '../support/mirror.ts';
import { runProgram } from './run-program.ts';

let mirror: Mirror;
afterEach(() => mirror.close());

it('lists own presets, and says which of the others they replace', async () => {
  mirror = await openMirror({ feed: { format: 'indeed' } });
  await mirror.writeFeed('<jobs/>');
  const folder = join(mirror.folder, 'presets');
  await mkdir(folder);
  const preset = 'records: jobs/job\nkey: id\nfields: { title: name, location-state: { from: state, as: us_state } }\n';
  await Promise.all(['acme-ats', 'indeed'].map((name) => writeFile(join(folder, `${name}.yaml`), preset)));

  const { out, status } = await runProgram(mirror, 'check');
  expect(out).toContain(`preset acme-ats: ${join(folder, 'acme-ats.yaml')}`);
  expect(out).toContain(`warning: ${join(folder, 'indeed.yaml')} replaces the preset indeed that comes with jobmirror`);
  expect(status).toBe(0);

  const [json] = (await runProgram(mirror, 'check', '--json')).json<{ presets: unknown }>();
  expect(json?.presets).toEqual([
    { preset: 'acme-ats', file: join(folder, 'acme-ats.yaml') },
    { preset: 'indeed', file: join(folder, 'indeed.yaml') },
  ]);
});
