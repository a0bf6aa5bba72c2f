-- What a posting says is written and read whole and never searched: as JSON text it is stored as it arrives and read as it
-- was stored, neither taken apart nor put together by the server.
alter table document alter column fields type json using fields::json;
alter table change
  alter column fields type json using fields::json,
  alter column sent_fields type json using sent_fields::json;

-- The new type begins with the server's own way of storing, so what 0001 says of wide values is said once more.
do $$
declare
  target record;
begin
  for target in values ('document', 'fields'), ('change', 'fields'), ('change', 'sent_fields') loop
    begin
      execute format('alter table %I alter column %I set compression lz4', target.column1, target.column2);
    exception when feature_not_supported then
      execute format('alter table %I alter column %I set storage external', target.column1, target.column2);
    end;
  end loop;
end
$$;
