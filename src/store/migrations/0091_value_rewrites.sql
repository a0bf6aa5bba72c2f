-- How a site rewrites the values of a field, as learnt from what it shows of the jobs that it was sent.
create table value_rewrite (
  site text not null,
  field text not null,
  kind text not null,
  -- The length of a cut or padded value, the text that is added.
  detail text not null default '',
  -- How often it was observed, counted in powers of two up to a limit.
  seen integer not null,
  primary key (site, field, kind, detail)
);
