-- Validators belong to the address that sent them, which redirects may have led to. Those of before belong to none that is
-- known, so the next pull of each feed asks without them.
alter table feed_state add column validated_address text;
