-- Of a text that was saved on a page or by the API: the addresses in it that nobody has written by hand. They may lead to public places
-- only. Null: the text was written by hand, or saved by a version before this one.
alter table feed_file_version add column addresses text[];
