// Parameters of addresses that tell where a visitor comes from. They change without another posting being meant.

const TRACKING_PARAMETER =
  /^(?:utm_.*|gclid|dclid|fbclid|msclkid|mc_[ce]id|_ga|_gl|gh_src|lever-(?:source|origin)(?:\[\])?)$/i;

/** @param parameter one part of a query, as it is written: `name=value`. */
export function isTrackingParameter(parameter: string): boolean {
  const [[name = ''] = []] = new URLSearchParams(parameter);
  return TRACKING_PARAMETER.test(name);
}

/** Removes them from the text of an address; everything else stays as it is written. */
export function withoutTracking(address: string): string {
  const [, before = '', query, after = ''] = /^([^?#]*)(?:\?([^#]*))?(#.*)?$/s.exec(address) ?? [];
  if (query === undefined) return address;
  const kept = query.split('&').filter((parameter) => !isTrackingParameter(parameter));
  return `${before}${kept.length === 0 ? '' : `?${kept.join('&')}`}${after}`;
}
