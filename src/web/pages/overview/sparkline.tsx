// A picture of a feed's newest pulls: how many postings each saw, and how it ended. Says the same as text.
import type { BriefPull } from '../../../store/pull/pull-history.ts';
import { PULL_STATUS } from '../status-labels.tsx';

const STEP = 8;
const BAR = 6;
const HEIGHT = 32;
/** Even a pull that saw nothing is visible. */
const LEAST = 3;

export const Sparkline = ({ pulls }: { pulls: readonly BriefPull[] }) => {
  if (pulls.length === 0) return null;
  const most = Math.max(1, ...pulls.map(({ seen }) => seen));
  const told = pulls.map(({ status, seen }) =>
    status === 'failed' ? 'failed' : `${seen} (${PULL_STATUS[status].words})`,
  );
  return (
    <svg
      class="spark"
      role="img"
      aria-label={`Postings seen by the last ${pulls.length} pulls, oldest first: ${told.join(', ')}`}
      width={pulls.length * STEP}
      height={HEIGHT}
      viewBox={`0 0 ${pulls.length * STEP} ${HEIGHT}`}
    >
      {pulls.map(({ status, seen }, at) => {
        const height = Math.max(LEAST, Math.round((seen / most) * HEIGHT));
        return (
          <rect
            class={PULL_STATUS[status].level}
            x={at * STEP}
            y={HEIGHT - height}
            width={BAR}
            height={height}
            rx={1}
          />
        );
      })}
    </svg>
  );
};
