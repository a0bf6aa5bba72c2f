// Why a bulk action leaves an entry alone.

export const ALTERED = 'it has changed since it was selected';
export const EDIT_ONLY_POSTINGS = 'it is a record that did not become a posting, so there is nothing to edit';
export const NOT_FOUND_NOW = 'no job on the site is found for it any more';
