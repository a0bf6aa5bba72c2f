-- A mail server may accept some recipients of a message at once and others some minutes later.
-- The recipients that have not got the message yet, if others have; null: all.
alter table alert_message add column recipients_left text[];
