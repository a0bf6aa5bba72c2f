// A time on a page: how long ago it was, with the exact one for whoever points at it, and for programs.
import { formatTime } from '../../telemetry/times.ts';

/** The units, with the age in milliseconds up to which each is used. */
const UNITS = [
  ['s', 1_000, 60_000],
  ['min', 60_000, 3_600_000],
  ['h', 3_600_000, 48 * 3_600_000],
  ['d', 86_400_000, 60 * 86_400_000],
] as const;
const JUST_NOW_MS = 3_000;

/** `7 min`; `undefined`: so long that the date says more. */
function spanWords(ms: number): string | undefined {
  const unit = UNITS.find(([, , most]) => ms < most);
  return unit && `${Math.max(1, Math.floor(ms / unit[1]))} ${unit[0]}`;
}

/** `7 min ago`, `in 2 h`; a time long ago, or far away, as a date. */
function agoWords(at: Date, now: Date): string {
  const ms = now.getTime() - at.getTime();
  if (Math.abs(ms) < JUST_NOW_MS) return 'just now';
  const span = spanWords(Math.abs(ms));
  if (span === undefined) return formatTime(at).slice(0, 'yyyy-mm-dd'.length);
  return ms > 0 ? `${span} ago` : `in ${span}`;
}

export const When = ({ at }: { at: Date | undefined | null }) =>
  at == null ? <>–</> : <Exactly at={at}>{agoWords(at, new Date())}</Exactly>;

/** How long it has lasted: `for 7 min`, `since 2026-01-05`. */
export const Lasting = ({ since }: { since: Date | undefined | null }) => {
  if (since == null) return <>–</>;
  const span = spanWords(Math.max(0, Date.now() - since.getTime()));
  return (
    <>
      {span === undefined ? 'since ' : 'for '}
      <Exactly at={since}>{span ?? agoWords(since, new Date())}</Exactly>
    </>
  );
};

const Exactly = ({ at, children }: { at: Date; children: string }) => (
  <time datetime={at.toISOString()} title={formatTime(at)}>
    {children}
  </time>
);
