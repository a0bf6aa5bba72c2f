-- What a posting says is written and read whole and never searched: as JSON text it is stored as it arrives and read as it
-- was stored, neither taken apart nor put together by the server.

-- In the order in which everybody else takes them.
lock table change, document in access exclusive mode;

-- The new type begins with the server's own way of storing, so what 0001 says of wide values is said again, in the same
-- statement: what is there already is written anew by it.
do $$
declare
  target record;
  retype text;
begin
  for target in values ('change', 'fields'), ('change', 'sent_fields'), ('document', 'fields') loop
    retype := format('alter table %1$I alter column %2$I type json using %2$I::json, alter column %2$I set ', target.column1, target.column2);
    begin
      execute retype || 'compression lz4';
    exception when feature_not_supported then
      execute retype || 'storage external';
    end;
  end loop;
end
$$;
