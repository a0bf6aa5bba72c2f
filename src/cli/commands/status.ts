// `jobmirror status`: the status of each site and feed, what needs a person, and the commands to go on with.
import type { Command } from 'commander';
import { type ReportedCondition, type Status, showStatus } from '../../operations/status.ts';
import { ExitStatus } from '../../runtime/stop-signal.ts';
import { oneLine } from '../../telemetry/print.ts';
import type { WriteCommand } from '../adapter/command-line.ts';
import { type GivenOptions, singleCommand } from '../adapter/operation-command.ts';
import { describeFeeds, describeSite } from '../output/describe-status.ts';

const isChecked = ({ check }: GivenOptions): boolean => check === true;

export const statusCommand = (): Command =>
  singleCommand(showStatus, {
    name: 'status',
    json: 'print one JSON object per site and feed, and with --check one more with the conditions that fail or need review',
    objects: { sites: true, feeds: true, check: isChecked },
    extend: (command) =>
      command.option(
        '--check',
        'report through the exit status: 0 all is well, 1 something fails, 2 something needs review',
      ),
    exitStatus: ({ check }, options) => (isChecked(options) ? STATUSES[check.status] : undefined),
    view: describeStatus,
  });

const STATUSES = { well: ExitStatus.done, failing: ExitStatus.failed, review: ExitStatus.review } as const;

function describeStatus(
  { workers, differences, pauses, sites, feeds, check }: Status,
  write: WriteCommand,
): readonly string[] {
  const siteLines = sites.flatMap((site) => describeSite(site, write));
  const reported = check.failing.flatMap(({ feed, message, detail }) =>
    feed === null ? [] : [message, ...(detail === null ? [] : [detail])],
  );
  return [
    workers === 0
      ? 'no process is sending at the moment'
      : `${workers} ${workers === 1 ? 'process sends' : 'processes send'}`,
    ...(differences === null ? [] : [`WARNING: ${differences}`]),
    ...pauses.map(({ message }) => `PAUSED: ${message.text}`),
    ...check.failing.map((condition) => `FAILING: ${describeCondition(condition, siteLines)}`),
    ...siteLines,
    ...describeFeeds(feeds, write, reported),
  ];
}

/** Long enough for the commands at the end of some details. */
const DETAIL_CHARS = 1_000;

/** Omits the detail if the site's line already gives it. */
function describeCondition({ message, detail }: ReportedCondition, siteLines: readonly string[]): string {
  const isShown = detail === null || siteLines.some((line) => line.includes(detail.text));
  return message.text + (isShown ? '' : `: ${oneLine(detail.text, DETAIL_CHARS)}`);
}
