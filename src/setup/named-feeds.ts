// Finds the feeds that an HTML page names for programs: `<link rel="alternate" type="application/rss+xml" href="…">`.

const MOST_NAMED = 5;

/** Whole addresses. @param address the page's, the base of relative ones. */
export function feedsNamedIn(page: string, address: string): readonly string[] {
  const links = [...page.matchAll(/<link\b[^>]*>/gi)].map(([link]) => link);
  const found = links
    .filter(
      (link) => /\brel\s*=\s*["']?alternate\b/i.test(link) && /application\/(?:rss\+xml|atom\+xml|json)\b/i.test(link),
    )
    .flatMap((link) => /\bhref\s*=\s*["']?([^"'\s>]+)/i.exec(link)?.[1] ?? []);
  const whole = found.flatMap((href) => {
    const decoded = href.replaceAll('&amp;', '&');
    const base = URL.canParse(address) ? address : undefined;
    return URL.canParse(decoded, base) ? [new URL(decoded, base).href] : [decoded];
  });
  return [...new Set(whole)].slice(0, MOST_NAMED);
}
