-- What is wished absent is counted with each pull, and is mostly nothing beside a large backlog of creates. With the key,
-- so that it is never a worse way than the primary key to the change of one posting.
create index change_absent on change (feed, key) where wanted = 'absent';
