// Comfort only; every page is complete without it. While a page says that something runs, its changing part is read again.
(() => {
  const everyMs = 2000;
  const refresh = async () => {
    const part = document.querySelector('[data-live]');
    if (part === null) return;
    try {
      const response = await fetch(location.href, { headers: { Accept: 'text/html' } });
      if (response.ok) {
        const read = new DOMParser().parseFromString(await response.text(), 'text/html');
        const next = read.querySelector(`#${CSS.escape(part.id)}`);
        if (next !== null) part.replaceWith(next);
      }
    } catch {
      // The server does not answer at the moment.
    }
    setTimeout(refresh, everyMs);
  };
  setTimeout(refresh, everyMs);
})();
