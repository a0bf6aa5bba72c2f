-- Where a record that gets a review entry is in its feed, so that whoever makes the feed finds it: 1 is the first record. Null:
-- no pull has seen it since this column exists, or the entry stands for records without an entry of their own.

alter table record_problem add column record_number integer;
