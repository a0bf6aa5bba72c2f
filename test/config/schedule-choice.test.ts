// Schedules as choices: each is one cron line, and each line that is due at the same times is shown as the choice.
import { describe, expect, it } from 'vitest';
import { cronOfChoice, SCHEDULES, scheduleChoiceOf, scheduleInWords } from '../../src/config/schedule-choice.ts';

const EVERY = SCHEDULES.flatMap(({ choices }) => choices.map(({ every }) => every));

describe('a choice', () => {
  it.each<[every: string, line: string]>([
    ['minutes:1', '* * * * *'],
    ['minutes:15', '*/15 * * * *'],
    ['hours:1', '5 * * * *'],
    ['hours:6', '5 */6 * * *'],
    ['day', '5 17 * * *'],
    ['weekdays', '5 17 * * 1-5'],
    ['week:0', '5 17 * * 0'],
    ['month:28', '5 17 28 * *'],
    ['month:L', '5 17 L * *'],
  ])('%s is written as %s', (every, line) => {
    expect(cronOfChoice({ every, at: '17:05' })).toBe(line);
  });

  it.each(EVERY)('%s comes back as it was', (every) => {
    const line = cronOfChoice({ every, at: '17:05' });
    const shown = scheduleChoiceOf(line);
    expect(shown.every).toBe(every);
    expect(cronOfChoice(shown)).toBe(line);
  });

  it('needs a time if it makes use of one', () => {
    expect(cronOfChoice({ every: 'day', at: '' })).toBeUndefined();
    expect(cronOfChoice({ every: 'day', at: '24:00' })).toBeUndefined();
    expect(cronOfChoice({ every: 'minutes:5', at: '' })).toBe('*/5 * * * *');
    expect(cronOfChoice({ every: 'century', at: '06:00' })).toBeUndefined();
  });
});

describe('a line', () => {
  it.each<[line: string, every: string, at?: string]>([
    ['0,15,30,45 * * * *', 'minutes:15'],
    ['0-59/30 * * * *', 'minutes:30'],
    ['7 0-23/2 * * *', 'hours:2', '00:07'],
    ['00 06 * * MON-FRI', 'weekdays', '06:00'],
    ['0 6 * * 1,2,3,4,5', 'weekdays', '06:00'],
    ['0 0 6 * * *', 'day', '06:00'],
    ['30 22 * * sun', 'week:0', '22:30'],
    ['30 22 * * 7', 'week:0', '22:30'],
    ['0 6 1 * ?', 'month:1', '06:00'],
  ])('%s is shown as %s', (line, every, at = '06:00') => {
    expect(scheduleChoiceOf(line)).toEqual({ every, at });
  });

  it.each([
    '30 0 6 * * *',
    '7/15 * * * *',
    '0 6,18 * * *',
    '0 6 * 1 *',
    '0 6 31 * *',
    // The day of the month counts beside the weekday.
    '0 6 */1 * 1',
    '0 6 1 * 1',
    '0 6 * * 1#2',
    '0 6 * * 5L',
    'no cron',
    '@daily',
    '0 6',
    '',
  ])('%s is shown as an expression', (line) => {
    expect(scheduleChoiceOf(line).every).toBe('cron');
  });

  it('is said in words', () => {
    expect(scheduleInWords('*/15 * * * *')).toBe('every 15 minutes');
    expect(scheduleInWords('7 * * * *')).toBe('every hour at minute 7');
    expect(scheduleInWords('0 6 * * MON-FRI')).toBe('Monday to Friday at 06:00');
    expect(scheduleInWords('0 6,18 * * *')).toBe('by the schedule "0 6,18 * * *"');
  });
});
