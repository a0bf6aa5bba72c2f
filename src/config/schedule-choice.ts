// Schedules: cron expressions parsed, and as people who write none choose them: each choice is one cron line, and each line that means the
// same is it.
import { createRequire } from 'node:module';
import type { CronExpression, CronExpressionOptions, CronExpressionParser } from 'cron-parser';

/** Loaded for the first expression: commands should start fast. */
let parser: typeof CronExpressionParser | undefined;

/** Throws an error whose message says what is wrong with the expression. */
export function parseCron(expression: string, options?: CronExpressionOptions): CronExpression {
  parser ??= (createRequire(import.meta.url)('cron-parser') as { CronExpressionParser: typeof CronExpressionParser })
    .CronExpressionParser;
  return parser.parse(expression, options);
}

/** What a form can say of a schedule. */
export interface ScheduleChoice {
  /** A value of {@link SCHEDULES}. */
  readonly every: string;
  /** `HH:MM`, of the choices that have a time; of those by hours, only its minutes count. */
  readonly at: string;
}

/** Only when somebody asks. */
export const BY_HAND = 'by_hand';
/** More than the other choices can say. */
export const AS_CRON = 'cron';

const MINUTES = [1, 2, 5, 10, 15, 20, 30] as const;
const HOURS = [1, 2, 3, 4, 6, 8, 12] as const;
const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'] as const;
/** Each month has them. */
const DAYS_OF_EACH_MONTH = 28;

interface Schedule {
  readonly every: string;
  readonly words: string;
  /** `time`: the whole of it counts; `minute`: its minutes. */
  readonly at: 'time' | 'minute' | 'none';
  readonly line: (hour: number, minute: number) => string;
}

const monthly = (day: string, words: string): Schedule => ({
  every: `month:${day}`,
  words,
  at: 'time',
  line: (hour, minute) => `${minute} ${hour} ${day} * *`,
});

const GROUPS: readonly { readonly title: string; readonly schedules: readonly Schedule[] }[] = [
  {
    title: 'By minutes',
    schedules: MINUTES.map((n) => ({
      every: `minutes:${n}`,
      words: n === 1 ? 'every minute' : `every ${n} minutes`,
      at: 'none',
      line: () => (n === 1 ? '* * * * *' : `*/${n} * * * *`),
    })),
  },
  {
    title: 'By hours',
    schedules: HOURS.map((n) => ({
      every: `hours:${n}`,
      words: n === 1 ? 'every hour' : `every ${n} hours`,
      at: 'minute',
      line: (_, minute) => (n === 1 ? `${minute} * * * *` : `${minute} */${n} * * *`),
    })),
  },
  {
    title: 'By days',
    schedules: [
      { every: 'day', words: 'every day', at: 'time', line: (hour, minute) => `${minute} ${hour} * * *` },
      { every: 'weekdays', words: 'Monday to Friday', at: 'time', line: (hour, minute) => `${minute} ${hour} * * 1-5` },
    ],
  },
  {
    title: 'By weeks',
    schedules: [1, 2, 3, 4, 5, 6, 0].map((day) => ({
      every: `week:${day}`,
      words: `every ${DAYS[day]}`,
      at: 'time',
      line: (hour, minute) => `${minute} ${hour} * * ${day}`,
    })),
  },
  {
    title: 'By months',
    schedules: [
      ...Array.from({ length: DAYS_OF_EACH_MONTH }, (_, nth) =>
        monthly(String(nth + 1), `on day ${nth + 1} of every month`),
      ),
      monthly('L', 'on the last day of every month'),
    ],
  },
];

const ALL = new Map(GROUPS.flatMap(({ schedules }) => schedules).map((each) => [each.every, each]));

/** The choices of a form, in groups. {@link BY_HAND} and {@link AS_CRON} come besides. */
export const SCHEDULES: readonly { readonly title: string; readonly choices: readonly Choice[] }[] = GROUPS.map(
  ({ title, schedules }) => ({ title, choices: schedules.map(({ every, words }) => ({ every, words })) }),
);

type Choice = Pick<Schedule, 'every' | 'words'>;

/** The time that a form proposes where a schedule has none. */
const USUAL_TIME = '06:00';

/** Parsing all choices takes milliseconds, and pages ask for the same few schedules. */
const known = new Map<string, ScheduleChoice>();
const MOST_KNOWN = 1_000;

/** `undefined`: no schedule. */
export function scheduleChoiceOf(cron: string | undefined): ScheduleChoice {
  if (cron === undefined) return { every: BY_HAND, at: USUAL_TIME };
  const choice = known.get(cron) ?? choiceOfLine(cron);
  if (known.size >= MOST_KNOWN) known.clear();
  known.set(cron, choice);
  return choice;
}

function choiceOfLine(cron: string): ScheduleChoice {
  const meaning = meaningOf(cron);
  if (meaning !== undefined) {
    const { hour, minute } = meaning;
    for (const { every, at, line } of ALL.values()) {
      if (meaningOf(line(hour, minute))?.values !== meaning.values) continue;
      if (at === 'none') return { every, at: USUAL_TIME };
      return { every, at: `${twoDigits(at === 'time' ? hour : 0)}:${twoDigits(minute)}` };
    }
  }
  return { every: AS_CRON, at: USUAL_TIME };
}

const twoDigits = (n: number): string => String(n).padStart(2, '0');

interface Meaning {
  /** The first ones. */
  readonly hour: number;
  readonly minute: number;
  /** What two lines have in common that are due at the same times. */
  readonly values: string;
}

/** `undefined`: it is no cron expression. */
function meaningOf(cron: string): Meaning | undefined {
  // The parser adds what is missing, and knows names of lines, which the configuration refuses.
  if (!FIELDS.test(cron)) return undefined;
  try {
    const { second, minute, hour, dayOfMonth, month, dayOfWeek } = parseCron(cron).fields;
    // A day of the month that is no "*" counts beside one of the week, even if it names all days.
    const isAny = [dayOfMonth.isWildcard, dayOfWeek.isWildcard, dayOfWeek.nthDay];
    const values = [second, minute, hour, dayOfMonth, month, dayOfWeek].map((field) => field.values);
    return { hour: hour.values[0] ?? 0, minute: minute.values[0] ?? 0, values: JSON.stringify([values, isAny]) };
  } catch {
    return undefined;
  }
}

const FIELDS = /^\s*\S+(?:\s+\S+){4,5}\s*$/;
const TIME = /^([01]\d|2[0-3]):([0-5]\d)$/;

/** The line that a person would have written for a choice. `undefined`: there is no such choice, or no such time. */
export function cronOfChoice({ every, at }: ScheduleChoice): string | undefined {
  const [, hour, minute] = TIME.exec(at) ?? [];
  const schedule = ALL.get(every);
  if (schedule === undefined) return undefined;
  if (hour === undefined) return schedule.at === 'none' ? schedule.line(0, 0) : undefined;
  return schedule.line(Number(hour), Number(minute));
}

/** Such as `every day at 06:00`; a line that is no choice is quoted. */
export function scheduleInWords(cron: string): string {
  const { every, at } = scheduleChoiceOf(cron);
  const schedule = ALL.get(every);
  if (schedule === undefined) return `by the schedule "${cron}"`;
  if (schedule.at === 'none') return schedule.words;
  return schedule.at === 'time' ? `${schedule.words} at ${at}` : `${schedule.words} at minute ${Number(at.slice(3))}`;
}
