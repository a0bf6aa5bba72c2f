-- What was done on the sites is listed from the requests.
-- Whether the request has changed the job of its posting; null: as its outcome says. False: the site accepted it, but the job is another
-- posting's. True: the outcome was unknown, and the job of the create was found later.
alter table request add column changed boolean;
-- Of a delete: the title that the job had, and whether its posting had expired or no posting had the job.
alter table request add column title text;
alter table request add column cause text check (cause in ('expired', 'surplus'));
-- The changes of a feed by time. The condition is that of `CHANGED` in src/store/status/site-changes.ts.
create index request_by_change on request (feed, operation, at, id) where coalesce(changed,
  operation = 'create' and outcome = 'created' or operation = 'update' and outcome in ('created', 'accepted')
    or operation = 'delete' and outcome in ('accepted', 'gone'));
-- Actions one by one, without the entries of actions on many, and these by action.
create index audit_by_moment on audit (at) where coalesce(not detail ? 'bulk' or action like '% bulk', true);
create index audit_by_bulk on audit ((detail->>'bulk'), feed) where detail ? 'bulk';
-- The pulls that deleted something.
create index outcome_count_deleted on outcome_count (pull) where outcome = 'deleted';
