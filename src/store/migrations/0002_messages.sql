-- Messages for people name what can be done about them as data, not as commands: a JSON text, or an object with a text and its
-- advice. Texts of earlier rows stay as they are.

alter table pull
  alter column shortfalls drop default,
  alter column shortfalls type jsonb using to_jsonb(shortfalls),
  alter column shortfalls set default '[]';
-- A list: what a person should know about the pull.
alter table pull rename column message to notes;
alter table pull
  alter column notes type jsonb using case when notes is null then '[]' else jsonb_build_array(notes) end,
  alter column notes set default '[]',
  alter column notes set not null;

alter table site_state
  alter column pause_cause type jsonb using to_jsonb(pause_cause),
  alter column last_message type jsonb using to_jsonb(last_message);

alter table feed_state alter column site_check_note type jsonb using to_jsonb(site_check_note);
