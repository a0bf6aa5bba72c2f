-- By what a posting whose job has ended is recognised under another key: digests of what its job had, as in rekey_posting.
alter table posting_expiry
  add column content text,
  add column likeness text;
