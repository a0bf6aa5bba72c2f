// What a logger writes: which lines, in which format, how long, and never a secret.
import { describe, expect, it } from 'vitest';
import {
  createLogger,
  type LogDestination,
  type Logger,
  type LogOptions,
  MAX_LINE_LENGTH,
} from '../../src/telemetry/log.ts';

const TOKEN = 'k3y"/with\\odd & signs+ü';

function capture(options: Partial<LogOptions> & { terminal?: boolean; colour?: boolean } = {}) {
  const lines: string[] = [];
  const destination: LogDestination = {
    write: (text) => lines.push(text),
    isTTY: options.terminal ?? false,
    hasColors: () => options.colour ?? false,
  };
  const log = createLogger({ level: 'info', secrets: [], json: true, destination, ...options });
  return { log, text: () => lines.join(''), entries: () => lines.map((line) => JSON.parse(line)) };
}

describe('in a pipe', () => {
  it('writes one JSON object per line, with fields and a constant message', () => {
    const { log, entries, text } = capture();
    log.info({ feed: 'acme', durationMs: 12 }, 'change accepted');
    log.warn('two\nlines');
    expect(entries()).toMatchObject([
      { level: 30, feed: 'acme', durationMs: 12, msg: 'change accepted', pid: process.pid },
      { level: 40, msg: 'two\nlines' },
    ]);
    expect(text().split('\n')).toHaveLength(3);
  });

  it('omits lines below its level', () => {
    const { log, entries } = capture({ level: 'warn' });
    log.info('quiet');
    log.error('loud');
    expect(entries().map((entry) => entry.msg)).toEqual(['loud']);
  });

  it('writes the causes of an error, each with its stack', () => {
    const { log, entries } = capture();
    log.error({ err: new Error('outer', { cause: new TypeError('inner') }) }, 'failed');
    expect(entries()[0].err).toMatchObject({ message: 'outer', cause: { type: 'TypeError', message: 'inner' } });
    expect(entries()[0].err.cause.stack).toContain('log.test.ts');
  });
});

describe('in a pipe, for people', () => {
  it('writes a line of text without colour', () => {
    const { log, text } = capture({ json: false });
    log.warn({ feed: 'acme' }, 'source not reachable');
    expect(text()).toMatch(/^\d\d:\d\d:\d\d warn {2}source not reachable feed=acme\n$/);
  });
});

describe('JSON', () => {
  it('escapes terminal control characters, and keeps its value', () => {
    const { log, text, entries } = capture();
    const data = 'a\u001b]0;x\u0007\u009b\u202e\u{e0041}\u2028z';
    log.info({ data }, 'read');
    expect(text()).not.toMatch(/(?!\n)[\p{Cc}\u202e\u2028\u{e0041}]/u);
    expect(entries()[0].data).toBe(data);
  });
});

describe('the length of a line', () => {
  it.each([
    ['one long text', { body: 'x'.repeat(1_000_000) }],
    ['one long text of escaped characters', { body: '\u0001'.repeat(1_000_000) }],
    ['many short texts', { list: Array.from({ length: 10_000 }, (_, at) => `entry ${at}`) }],
    ['a deep tree', Array.from({ length: 1_000 }).reduce<object>((below) => ({ below, text: 'y'.repeat(50) }), {})],
  ])('is bounded with %s, and the line stays JSON', (_name, fields) => {
    const { log, text, entries } = capture();
    log.info(fields, 'large');
    expect(text().length).toBeLessThanOrEqual(MAX_LINE_LENGTH + 1);
    expect(entries()[0]).toMatchObject({ level: 30, msg: 'large', cutFrom: expect.any(Number) });
  });

  it('keeps a line of ordinary length unchanged', () => {
    const { log, entries } = capture();
    log.info({ body: 'x'.repeat(10_000) }, 'ordinary');
    expect(entries()[0].body).toHaveLength(10_000);
    expect(entries()[0]).not.toHaveProperty('cutFrom');
  });
});

const places: ReadonlyArray<[string, (log: Logger, text: string) => void]> = [
  ['a field', (log, text) => log.info({ text }, 'm')],
  ['a nested field', (log, text) => log.info({ a: { b: [text] } }, 'm')],
  ['the message', (log, text) => log.info(text)],
  ["a field's name", (log, text) => log.info({ [text]: 1 }, 'm')],
  ["an error's message and stack", (log, text) => log.info({ err: new Error(text) }, 'm')],
  ["an error's cause", (log, text) => log.info({ err: new Error('m', { cause: new Error(text) }) }, 'm')],
  ["an error's own property", (log, text) => log.info({ err: Object.assign(new Error('m'), { text }) }, 'm')],
  ['the bindings of a child', (log, text) => log.child({ text }).info('m')],
  ['a JSON document in a field', (log, text) => log.info({ body: JSON.stringify({ text }) }, 'm')],
  ['a text that is cut', (log, text) => log.info({ body: 'x'.repeat(1_005) + text + 'x'.repeat(20_000) }, 'm')],
];

describe('secrets', () => {
  describe.each([
    ['in a pipe', false],
    ['on a terminal', true],
  ])('%s', (_name, terminal) => {
    it.each(places)('do not appear in %s', (_place, write) => {
      const { log, text } = capture({ secrets: [TOKEN], terminal });
      write(log, `before ${TOKEN} after`);
      expect(text()).toContain('[secret]');
      expect(text()).not.toContain('k3y');
      expect(text()).not.toContain('odd');
    });
  });

  it('are removed even if they are keywords of the format', () => {
    const { log, text } = capture({ secrets: ['30', 'level'], terminal: true });
    log.info('still here');
    expect(text()).toContain('still here');
    expect(text()).not.toContain('level');
  });
});

describe('on a terminal', () => {
  it('writes time, level, message and fields, without colour if unsupported', () => {
    const { log, text } = capture({ terminal: true });
    log.warn({ feed: 'acme', title: 'Nurse, nights', count: 3 }, 'record skipped');
    expect(text()).toMatch(/^\d\d:\d\d:\d\d warn {2}record skipped feed=acme title="Nurse, nights" count=3\n$/);
  });

  it('uses colour if the terminal supports it', () => {
    const { log, text } = capture({ terminal: true, colour: true });
    log.error('failed');
    expect(text()).toContain('\u001b[31merror\u001b[39m');
  });

  it('shows the stacks of an error and its cause below, indented', () => {
    const { log, text } = capture({ terminal: true });
    log.error({ err: new Error('outer', { cause: new Error('inner') }) }, 'failed');
    expect(text()).toMatch(/failed\n {4}Error: outer\n {4} {4}at /);
    expect(text()).toMatch(/\n {4}caused by: Error: inner\n/);
  });

  it('shows of what is tried again only what happened, unless the program is wrong', () => {
    const { log, text } = capture({ terminal: true });
    const full = Object.assign(new Error('no space'), { code: '53100', hint: 'free some' });
    log.warn({ err: new Error('not stored', { cause: full }) }, 'will retry');
    expect(text()).toMatch(/will retry\n {4}not stored\n {4}caused by: no space \(53100\)\n$/);
    log.warn({ err: new TypeError('wrong') }, 'will retry');
    expect(text()).toMatch(/ {4}TypeError: wrong\n {4} {4}at /);
  });

  it.each([
    ['an escape sequence', '\u001b]0;title\u0007'],
    ['a C1 control', '\u009b31m'],
    ['a carriage return', 'hidden\rshown'],
    ['a change of the direction of text', '\u202egnp.exe'],
  ])('does not pass on %s', (_name, data) => {
    const { log, text } = capture({ terminal: true });
    log.info({ [data]: data, err: new Error(data) }, data);
    for (const sign of '\u001b\u0007\u009b\r\u202e') expect(text()).not.toContain(sign);
  });
});
