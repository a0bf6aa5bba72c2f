-- Each pull looks for those of its feed that a dead process left running; of the others there may be tens of thousands.
create index pull_running on pull (feed) where status = 'running';
