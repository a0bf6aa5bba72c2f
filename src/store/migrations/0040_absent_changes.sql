-- What is wished absent is counted with each pull, and is mostly nothing beside a large backlog of creates.
create index change_absent on change (feed) where wanted = 'absent';
