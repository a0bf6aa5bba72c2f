-- A decision about one pair reads the postings with its content, or its title and place.
create index rekey_posting_content on rekey_posting (feed, content);
create index rekey_posting_likeness on rekey_posting (feed, likeness);
