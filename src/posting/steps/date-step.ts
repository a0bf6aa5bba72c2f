// The step `date` with settings: time zones, the order of day and month, and dates without a time.
import { type NumericOrder, readDate, whyNoDate } from '../dates.ts';
import { accepted, refused, type Transform } from '../transforms.ts';
import { compileTimeZone } from './time-zones.ts';

export interface DateStep {
  readonly kind: 'date';
  readonly order?: NumericOrder;
  /** IANA name: the zone of times that name none. */
  readonly zone?: string;
  /** IANA name: the zone in which the result is written; absent: UTC. */
  readonly to?: string;
  /** Whether the result has a time, if the feed gives one. */
  readonly time: boolean;
}

/** Compiles the step. Throws a `RangeError` for an unknown zone. */
export function compileDate({ order, zone, to, time }: DateStep): Transform {
  const from = zone === undefined ? undefined : compileTimeZone(zone);
  const target = to === undefined ? undefined : compileTimeZone(to);
  const hint = order === undefined ? 'dates such as 4/8/2012 need an order' : 'check its order of day and month';
  const write = (wallClock: number, suffix: string): string => {
    const iso = new Date(wallClock).toISOString();
    return time ? `${iso.slice(0, 19)}${suffix}` : iso.slice(0, 10);
  };
  return {
    about: 'a date with settings',
    kind: 'check',
    apply(text) {
      const date = readDate(text, order);
      if (date === undefined) return refused(whyNoDate(text, hint));
      if (date.kind === 'day') return accepted(date.iso);
      if (date.kind === 'local' && from === undefined) return accepted(write(date.ms, ''));
      const instant = date.kind === 'local' ? (from?.toInstant(date.ms) ?? date.ms) : date.ms;
      if (target === undefined) return accepted(write(instant, 'Z'));
      const wallClock = target.toWallClock(instant);
      return accepted(write(wallClock, offsetText(wallClock - Math.floor(instant / 1000) * 1000)));
    },
  };
}

/** `-05:00`. */
function offsetText(ms: number): string {
  const minutes = Math.abs(Math.round(ms / 60_000));
  const two = (number: number) => String(number).padStart(2, '0');
  return `${ms < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}
