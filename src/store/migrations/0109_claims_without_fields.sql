-- A claim, and each later step of an attempt, writes a new version of the row of its change: the fields, which do not change, are
-- kept beside it, and only those of small postings within.
alter table change set (toast_tuple_target = 512);
