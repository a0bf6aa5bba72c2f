// Comfort only: n and p go to the next posting of a group and the one before, unless somebody types.
document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  if (event.target instanceof Element && event.target.closest('input, textarea, select') !== null) return;
  if (event.key === 'n' || event.key === 'p') document.querySelector(`a[data-key="${event.key}"]`)?.click();
});
