// The overview.
import { Hono } from 'hono';
import { readStatus } from '../../../runtime/read-status.ts';
import type { WebEnv } from '../../web-env.ts';
import { type PageContext, showPage } from '../page.tsx';
import { Overview } from './overview.tsx';

export function overviewPages({ app }: PageContext): Hono<WebEnv> {
  const pages = new Hono<WebEnv>();
  pages.get(
    '/',
    showPage(async ({ visit }) => <Overview status={await readStatus(app)} visit={visit} />),
  );
  return pages;
}
