// A time on a page, with its zone and for programs.
import { formatTime } from '../../telemetry/times.ts';

export const When = ({ at }: { at: Date | undefined | null }) =>
  at == null ? <>–</> : <time datetime={at.toISOString()}>{formatTime(at)}</time>;
