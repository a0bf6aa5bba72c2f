// Has a test database refuse every transition that the life cycle of a change does not have.
import { TRANSITIONS } from '../../src/store/change/life-cycle.ts';
import { runSql } from './sql.ts';

const allowed = Object.entries(TRANSITIONS).flatMap(([from, states]) => states.map((to) => `('${from}', '${to}')`));

/** Adds a trigger to the table of changes; databases that are copied from this one have it too. Tests insert changes in any state. */
export async function watchLifeCycle(databaseUrl: string): Promise<void> {
  await runSql(
    databaseUrl,
    `create function check_transition() returns trigger language plpgsql as $$
     declare
       from_state text := old.state;
       to_state text := case when tg_op = 'DELETE' then 'none' else new.state end;
     begin
       if from_state <> to_state and (from_state, to_state) not in (${allowed.join(', ')}) then
         raise exception 'a change may not go from % to %: see src/store/change/life-cycle.ts', from_state, to_state;
       end if;
       return null;
     end $$`,
  );
  await runSql(
    databaseUrl,
    `create trigger change_life_cycle after update of state or delete on change
     for each row execute function check_transition()`,
  );
}
