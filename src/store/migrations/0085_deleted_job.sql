-- For which posting a job was deleted.
create index request_by_deleted_job on request (site_job_id) where operation = 'delete';
create index request_by_deleted_number on request ((substring(site_job_id from '^([0-9]+)-[a-z]'))) where operation = 'delete';
