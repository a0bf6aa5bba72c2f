// The style and the scripts of the pages: the files of two folders, each served as one.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Hono } from 'hono';
import { packageRoot } from '../../config/package-root.ts';
import type { WebEnv } from '../web-env.ts';

/** The files of a folder in the order of their names; they do not change while the process runs. */
function joined(folder: string): string {
  const path = join(packageRoot, 'src', 'web', 'pages', folder);
  const files = readdirSync(path).sort();
  return files.map((file) => readFileSync(join(path, file), 'utf8')).join('\n');
}

export function assetRoutes(): Hono<WebEnv> {
  const [style, scripts] = [joined('style'), joined('scripts')];
  const assets = new Hono<WebEnv>();
  const headers = { 'Cache-Control': 'max-age=300' };
  assets.get('/style.css', (c) => c.body(style, 200, { 'Content-Type': 'text/css; charset=utf-8', ...headers }));
  assets.get('/pages.js', (c) =>
    c.body(scripts, 200, { 'Content-Type': 'text/javascript; charset=utf-8', ...headers }),
  );
  return assets;
}
