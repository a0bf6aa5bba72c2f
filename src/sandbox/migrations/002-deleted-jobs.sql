-- Jobs that were deleted and are kept, by sites that show them with 410 or a flag.

alter table sandbox.job add column deleted_at timestamptz;
