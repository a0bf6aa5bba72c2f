-- A record hash stands for one key. Until now it was that of the record's bytes alone, so after a change of the key two
-- postings could have the same one, and whichever was seen answered for both. Such hashes become ones that no record has:
-- their postings are read again, or are seen to be gone.
create temporary table shared on commit drop as
  select feed, record_hash from (
    select feed, key, record_hash from mapping
    union all select feed, key, record_hash from change where record_hash is not null
    union all select feed, key, sent_record_hash from change where sent_record_hash is not null) r
  group by feed, record_hash having min(key) <> max(key);

update mapping m set record_hash = decode(md5('shared ' || m.feed || ' ' || m.key), 'hex')
from shared s where s.feed = m.feed and s.record_hash = m.record_hash;
update change c set record_hash = decode(md5('shared ' || c.feed || ' ' || c.key), 'hex')
from shared s where s.feed = c.feed and s.record_hash = c.record_hash;
update change c set sent_record_hash = decode(md5('shared ' || c.feed || ' ' || c.key), 'hex')
from shared s where s.feed = c.feed and s.record_hash = c.sent_record_hash;
