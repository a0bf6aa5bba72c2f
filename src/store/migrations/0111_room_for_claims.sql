-- A claim writes the row of its change again: with room for it in the same page, only what it changes is logged.
alter table change set (fillfactor = 50);
