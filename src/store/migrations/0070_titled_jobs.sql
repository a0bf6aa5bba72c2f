-- Finds a job by its number if its mapping has it under an ID with its title, such as 12-nurse. The condition is that of `numberOfTitled`.
create index mapping_by_number on mapping (site, (substring(site_job_id from '^([0-9]+)-[a-z]')))
  where substring(site_job_id from '^([0-9]+)-[a-z]') is not null;
