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

// Comfort only: n and p go to the next posting of a group and the one before, unless somebody types.
document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  if (event.target instanceof Element && event.target.closest('input, textarea, select') !== null) return;
  if (event.key === 'n' || event.key === 'p') document.querySelector(`a[data-key="${event.key}"]`)?.click();
});

// Comfort only: the buttons of a list of entries say how many entries are chosen.
(() => {
  const form = document.querySelector('#decide');
  if (form === null) return;
  const buttons = [...form.querySelectorAll('button[data-words]')].map((button) => [button, button.textContent]);
  const show = () => {
    const chosen = form.querySelectorAll('input[name="entry"]:checked').length;
    for (const [button, text] of buttons) {
      button.textContent = chosen === 0 ? text : `${button.dataset.words} ${chosen} chosen`;
    }
  };
  form.addEventListener('change', show);
  show();
})();

// Comfort only: while a feed is set up from a sample, each choice is tried at once, and what becomes of the postings is shown again.
(() => {
  const form = document.querySelector('#mapping');
  if (form === null || form.elements.sample.value === '') return;
  let running = new AbortController();
  const tryChoices = async () => {
    running.abort();
    running = new AbortController();
    const body = new FormData(form);
    body.set('go', 'update');
    try {
      const options = { method: 'POST', body, headers: { Accept: 'text/html' }, signal: running.signal };
      const response = await fetch(form.action, options);
      if (!response.ok) return;
      const read = new DOMParser().parseFromString(await response.text(), 'text/html');
      for (const part of document.querySelectorAll('[data-tried]')) {
        const next = read.querySelector(`#${CSS.escape(part.id)}`);
        if (next !== null && !part.isEqualNode(next)) part.replaceWith(next);
      }
    } catch {
      // A later choice is tried instead, or the server does not answer: the button still does.
    }
  };
  form.addEventListener('change', ({ target }) => {
    // What is chosen last counts: a path that is still to be added would make a text of the field again.
    const [, field] = /^from\.(.+)$/.exec(target.name) ?? [];
    const insert = field === undefined ? null : form.elements.namedItem(`insert.${field}`);
    if (insert !== null) insert.value = '';
    tryChoices();
  });
})();

// Comfort only: a cron expression that is typed is chosen.
document.querySelector('#set-schedule')?.addEventListener('input', () => {
  document.querySelector('#schedule-every').value = 'cron';
});
