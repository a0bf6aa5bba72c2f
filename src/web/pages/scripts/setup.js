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
