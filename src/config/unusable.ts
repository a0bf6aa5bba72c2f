// Finds valid settings that can't work: nothing to mirror, or feeds whose file is missing.
import { access, constants, stat } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import type { Complaint } from './config-error.ts';
import { reason } from './settings-file.ts';
import { settingOf, settingsIn } from './sites-and-feeds.ts';
import type { YamlSource } from './yaml-source.ts';

/** @param folder the folder of the configuration file, the base of relative paths. */
export async function findUnusable(data: unknown, source: YamlSource, folder: string): Promise<readonly Complaint[]> {
  const complaints: Complaint[] = [];
  for (const group of ['sites', 'feeds'] as const) {
    const written = settingOf(data, group);
    // The schema reports a missing group.
    if (typeof written !== 'object' || written === null || Object.keys(written).length > 0) continue;
    const message = `has no ${group === 'sites' ? 'site' : 'feed'}, so there is nothing to mirror; add one, as config/jobmirror.example.yaml shows`;
    complaints.push(source.complain([group], message));
  }
  for (const [name, feed] of Object.entries(settingsIn(data, 'feeds'))) {
    const sources = settingOf(feed, 'sources');
    const hasSeveral = Array.isArray(sources);
    for (const [at, written] of (hasSeveral ? sources : [settingOf(feed, 'source')]).entries()) {
      if (typeof written !== 'string' || !isPath(written)) continue;
      const path = resolve(folder, written);
      const fault = settingOf(feed, 'files') === undefined ? await fileFault(path) : await folderFault(path);
      const setting = hasSeveral ? ['sources', at] : ['source'];
      if (fault !== undefined) complaints.push(source.complain(['feeds', name, ...setting], fault));
    }
  }
  return complaints;
}

const isPath = (source: string): boolean => source !== '' && source !== '-' && !/^[a-z][a-z0-9+.-]*:\/\//i.test(source);

async function fileFault(path: string): Promise<string | undefined> {
  try {
    if ((await stat(path)).isDirectory()) {
      return `${path} is a folder, not a feed; name the file in it, or set files: newest or files: all`;
    }
    await access(path, constants.R_OK);
    return undefined;
  } catch (error) {
    const cause = error as NodeJS.ErrnoException;
    const next =
      cause.code === 'ENOENT' && /[*?[{]/.test(path)
        ? '; to read the files that match a pattern, set files: newest or files: all'
        : '; a relative path starts at the folder of the configuration file';
    return `${path} can't be read: ${reason(cause)}${cause.code === 'ENOENT' ? next : ''}`;
  }
}

/** For a folder, or a pattern of the names in it. It may be empty now. */
async function folderFault(path: string): Promise<string | undefined> {
  const folder = /[*?]/.test(basename(path)) ? dirname(path) : path;
  try {
    if (!(await stat(folder)).isDirectory()) return `${folder} is no folder; remove files to read it as one file`;
    await access(folder, constants.R_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    const cause = error as NodeJS.ErrnoException;
    const next = cause.code === 'ENOENT' ? '; a relative path starts at the folder of the configuration file' : '';
    return `${folder} can't be read: ${reason(cause)}${next}`;
  }
}
