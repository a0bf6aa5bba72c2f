-- Each posting that is sent removes its change, so the trigger is called for each statement instead of each row.
drop trigger rekey_change_removed on change;
create trigger rekey_change_removed after delete on change referencing old table as altered for each statement
  execute function touch_rekey_mappings();
