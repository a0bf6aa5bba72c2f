// Removes rows beyond their retention, a piece at a time, as long as `start` runs.
import { forgetOldRows } from '../store/pull.ts';
import type { Books } from './books.ts';

const EVERY_MS = 10 * 60_000;

export function startRetention({ config, db, log }: Books): { stop(): Promise<void> } {
  const { requestsDays, failuresDays, auditDays, pullsDays } = config.retention;
  const days = { requests: requestsDays, failures: failuresDays, audit: auditDays, pulls: pullsDays };
  const stopping = new AbortController();
  let round: Promise<void> = Promise.resolve();
  const timer = setInterval(() => {
    // A round may take longer than the pause between two.
    round = round
      .then(() => forgetOldRows(db, days, stopping.signal))
      .catch((error) => log.warn({ err: error }, 'old rows not removed, it will be tried again'));
  }, EVERY_MS);
  return {
    async stop() {
      clearInterval(timer);
      stopping.abort();
      await round;
    },
  };
}
