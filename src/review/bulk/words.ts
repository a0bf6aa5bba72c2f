// Why a bulk action leaves an entry alone.

export const ALTERED = 'it has changed since it was selected';
export const NOT_FOUND_NOW = 'no job on the site is found for it any more';
