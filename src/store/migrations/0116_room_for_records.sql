-- The beginnings of records are up to 2 KiB long and kept for a short time: to compress them took as long as all other work on the rows.
alter table kept_record set (toast_tuple_target = 8160);
