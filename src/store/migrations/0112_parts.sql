-- Requests and failed attempts are kept in parts by time, so that those that are too old are dropped at once: see src/store/status/parts.ts.
-- Rows of a time that has no part are in the part …_default, of which every further part is a copy without rows. The rows that exist stay
-- where they are, as the part …_former. Each part has its own key: the numbers come from one sequence.

-- When any process last removed old rows. An older process that still runs would delete rows by their place, which is not unique among
-- parts: without the column that it knows, it does not.
alter table installation drop column retention_at;
alter table installation add column old_rows_removed_at timestamptz;

alter table request rename to request_former;
alter index request_pkey rename to request_former_pkey;
alter index request_by_posting rename to request_former_by_posting;
alter index request_by_age rename to request_former_by_age;
alter index request_by_deleted_job rename to request_former_by_deleted_job;
alter index request_by_deleted_number rename to request_former_by_deleted_number;
alter index request_by_change rename to request_former_by_change;
alter sequence request_id_seq rename to request_former_id_seq;
create table request (like request_former including defaults including constraints including storage including compression)
  partition by range (at);
alter table request alter column id add generated always as identity;
create index request_by_posting on request (feed, key, id desc);
create index request_by_age on request (at);
create index request_by_deleted_job on request (site_job_id) where operation = 'delete';
create index request_by_deleted_number on request ((substring(site_job_id from '^([0-9]+)-[a-z]'))) where operation = 'delete';
create index request_by_change on request (feed, operation, at, id) where coalesce(changed,
  operation = 'create' and outcome = 'created' or operation = 'update' and outcome in ('created', 'accepted')
    or operation = 'delete' and outcome in ('accepted', 'gone'));

alter table failure rename to failure_former;
alter index failure_pkey rename to failure_former_pkey;
alter index failure_by_posting rename to failure_former_by_posting;
alter index failure_by_age rename to failure_former_by_age;
alter sequence failure_id_seq rename to failure_former_id_seq;
create table failure (like failure_former including defaults including constraints including storage including compression)
  partition by range (at);
alter table failure alter column id add generated always as identity;
create index failure_by_posting on failure (feed, key, id desc);
create index failure_by_age on failure (at);

do $$
declare
  name text;
  until timestamptz;
  permitted record;
begin
  foreach name in array array['request', 'failure'] loop
    execute format('select setval(%L, nextval(%L), false)', name || '_id_seq', name || '_former_id_seq');
    execute format('alter table %I alter column id drop identity', name || '_former');
    -- An analysis of a few rows would have all statements read the whole part, until the next analysis finds more.
    execute format('create table %I partition of %I (primary key (id)) default with (autovacuum_analyze_threshold = 5000)',
      name || '_default', name);
    for permitted in select a.privilege_type, a.grantee, a.is_grantable
      from pg_class c, aclexplode(c.relacl) a where c.oid = (name || '_former')::regclass
    loop
      execute format('grant %s on %I to %s%s', permitted.privilege_type, name,
        case when permitted.grantee = 0 then 'public' else permitted.grantee::regrole::text end,
        case when permitted.is_grantable then ' with grant option' else '' end);
    end loop;
    execute format('select max(at) from %I', name || '_former') into until;
    if until is null then
      begin
        execute format('drop table %I', name || '_former');
      exception when dependent_objects_still_exist then
        until := now();
      end;
    end if;
    if until is not null then
      execute format('alter table %I attach partition %I for values from (minvalue) to (%L)', name, name || '_former',
        (date_trunc('day', greatest(until, now()) at time zone 'UTC') + interval '1 day') at time zone 'UTC');
      execute format('analyze %I', name);
    end if;
  end loop;
end
$$;
