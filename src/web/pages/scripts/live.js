// Comfort only; every page is complete without it. While a page says that something runs, its changing parts are read again.
(() => {
  const everyMs = 2000;
  const refresh = async () => {
    const parts = document.querySelectorAll('[data-live]');
    if (parts.length === 0) return;
    try {
      const response = await fetch(location.href, { headers: { Accept: 'text/html' } });
      if (response.ok) {
        const read = new DOMParser().parseFromString(await response.text(), 'text/html');
        for (const part of parts) {
          const next = read.querySelector(`#${CSS.escape(part.id)}`);
          // What is the same keeps the focus.
          if (next !== null && !part.isEqualNode(next)) part.replaceWith(next);
        }
      }
    } catch {
      // The server does not answer at the moment.
    }
    setTimeout(refresh, everyMs);
  };
  setTimeout(refresh, everyMs);
})();
