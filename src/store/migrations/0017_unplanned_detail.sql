-- Marks details that were requested again and differ from the former ones, until a pull that planned them is committed.
alter table detail add column unplanned boolean not null default false;
create index detail_unplanned on detail (feed) where unplanned;
