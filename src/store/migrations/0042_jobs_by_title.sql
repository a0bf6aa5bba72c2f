-- Jobs are found by the beginning of their title, in any case. Byte order lets a range of this index hold exactly these.
create index document_by_title on document (feed, (lower(left(fields->>'title', 100)) collate "C"), key);
