-- What the site showed of each field after our last accepted write of it, if not what was sent: see `src/plan/shown-forms.ts`; null:
-- nothing is known, as of jobs that were written before this column existed.
alter table document add column shown bytea;
