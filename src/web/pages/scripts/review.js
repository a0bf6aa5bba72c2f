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
