// A list of several pages over HTTP as a source.
import type { SourceKind } from '../source.ts';
import { type PagesConfig, pagesDescriptions } from './pages-config.ts';

export const pagesSource: SourceKind<PagesConfig> = {
  isRemote: false,
  isRepeatable: true,
  isPaged: true,
  // Decoding pages takes libraries that commands without pulls do not need.
  open: async (config, context) =>
    config.paging.by === 'sitemap'
      ? (await import('./open-sitemap.ts')).openSitemap(config, context)
      : (await import('./open-pages.ts')).openPages(config, context),
  ...pagesDescriptions,
};
