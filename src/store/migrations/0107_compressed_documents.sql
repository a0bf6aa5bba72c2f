-- What a site last accepted is written once and read seldom: it is compressed in its row, with lz4 where 0100 could choose it, otherwise
-- with pglz. Open changes stay as they are: compressing them would make first pulls slower.
alter table document alter column fields set storage main;
alter table document set (toast_tuple_target = 128);
alter table former_document alter column fields set storage main;
alter table former_document set (toast_tuple_target = 128);
