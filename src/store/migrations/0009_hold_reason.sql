-- Why deletes are held is read from the held changes themselves.
alter table feed_state drop column hold_reason, drop column hold_since;
