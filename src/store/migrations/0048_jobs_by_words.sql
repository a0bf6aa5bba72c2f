-- Jobs are found by the beginnings of words of their title, no longer only by the beginning of the title. "@" and the feed is one of
-- the words. See 0047 for the functions.
create index document_words on document using gin ((array_to_tsvector(words_of(fields->>'title') || ('@' || feed))))
  with (gin_pending_list_limit = 512);
drop index document_by_title;
