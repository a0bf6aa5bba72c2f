-- Complete pulls in a row that lacked a posting whose create is in flight or in doubt: it has no mapping that could count them.
alter table change add column missing_pulls smallint not null default 0;
