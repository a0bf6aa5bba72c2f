// JSONata expressions: results, limits, and what is refused before any record is read.
import { describe, expect, test } from 'vitest';
import { compileExpression, MalformedExpressionError } from '../../src/posting/expressions.ts';
import { compileReader } from '../../src/posting/reader.ts';
import { fromPaths, sampleSpec } from './sample-spec.ts';

const record = { id: '007', title: 'Nurse', pay: { min: '20', max: '30' }, tags: ['a', 'b', 'c'] };

async function evaluate(source: string): Promise<string> {
  const result = await compileExpression(source)(record);
  return result.kind === 'value' ? result.text : `failed: ${result.message}`;
}

test.each([
  ['title', 'Nurse'],
  ['id', '007'],
  ['pay.min & "-" & pay.max', '20-30'],
  ['$number(pay.max) - $number(pay.min)', '10'],
  ['$count(tags) > 2', 'true'],
  ['$join(tags[$ != "b"], ", ")', 'a, c'],
  ['nothing', ''],
  ['null', ''],
  ['$replace(title, /(n)(u)/i, "$2$1")', 'uNrse'],
  ['$match("a1b22", /[0-9]+/).match ~> $join("+")', '1+22'],
  ['$contains(title, /^nur/i)', 'true'],
  ['$pad(id, 5, "0")', '00700'],
  ['$pad(id, -5, "0")', '00007'],
  ['$join($map(tags, $uppercase))', 'ABC'],
  ['($first := $substring(?, 0, 2); $first(title))', 'Nu'],
  ['$join($split("a,b;c", /[,;]/), "+")', 'a+b+c'],
  ['title ~> $uppercase ~> $substring(1)', 'URSE'],
  ['(tags)', 'failed: its result is a list of 3, not a text; use $join or $string'],
  ['pay', 'failed: its result is an object, not a text; use $join or $string'],
  ['function($x) { $x }', 'failed: its result is an object, not a text; use $join or $string'],
  ['$fromMillis($toMillis("2 July 2026", "[D1] [MNn] [Y0001]"), "[Y0001]-[M01]-[D01]")', '2026-07-02'],
  ['$toMillis("2026-07-02T10:00:00Z")', '1782986400000'],
  [
    '$toMillis("2 July", "[D1] [MNn]")',
    /^failed: \$toMillis would take what the text lacks, such as the year, from the present day/,
  ],
  ['($at := function($t) { $toMillis($t, "[H01]:[m01]") }; $at("10:00"))', /^failed: \$toMillis would take/],
  ['$number(title)', /^failed: Unable to cast value to a number: "Nurse" \(character \d+\)$/],
  ['$error("no pay")', /^failed: no pay/],
])('%s', async (source, expected) => {
  const result = await evaluate(source);
  if (typeof expected === 'string') expect(result).toBe(expected);
  else expect(result).toMatch(expected);
});

/** Each would take minutes, in proportion to the square of the text, and is refused long before. */
describe('a long text', () => {
  const commas = ','.repeat(45_000);
  const evaluateFor = async (source: string, text: string) => compileExpression(source)({ text });

  test.each([
    ['$join($split(text, /,(?:[^;]*;)?/), "")', commas],
    ['$join($match(text, /,(?:[^;]*;)?/).match, "")', commas],
    ['$replace(text, /,(?:[^;]*;)?/, "-")', commas],
    ['$replace(text, /(,+x|,)/, "-")', commas],
    ['$replace(text, /a.*b|a/, "-")', 'a'.repeat(45_000)],
  ])('is refused for %s', async (source, text) => {
    expect(await evaluateFor(source, text)).toMatchObject({
      kind: 'failed',
      message: expect.stringContaining('its patterns take too long for this text'),
    });
  });

  test.each([
    ['$join($map([1..8000], function($i) { $substring(text, $i, 1) }))'],
    ['$string($count($distinct([1..9000])))'],
  ])('is refused for %s', async (source) => {
    const message = expect.stringMatching(/takes more than 20000 steps/);
    expect(await evaluateFor(source, 'ab'.repeat(30_000))).toMatchObject({ kind: 'failed', message });
  });

  test.each([
    ['$string($length($replace(text, /,/, "-")))', '45000', commas],
    ['$string($count($split(text, /\\s*,\\s*/)))', '9001', ' , '.repeat(9_000)],
    ['$string($length($replace(text, /\\s+/, " ")))', '100000', 'word  '.repeat(20_000)],
    ['$string($count($split(text, ",")))', '9001', ','.repeat(9_000)],
  ])('is read by %s', async (source, expected, text) => {
    expect(await evaluateFor(source, text)).toEqual({ kind: 'value', text: expected });
  });

  test('costs nothing once it is over: the next record is read', async () => {
    const evaluateOne = compileExpression('$replace(text, /(,+x|,)/, "-")');
    expect(await evaluateOne({ text: commas })).toMatchObject({ kind: 'failed' });
    expect(await evaluateOne({ text: 'a,b' })).toEqual({ kind: 'value', text: 'a-b' });
  });
});

describe('limits', () => {
  test.each([
    ['($f := function($n) { $f($n + 1) }; $f(0))', /^failed: takes more than 20000 steps/],
    ['($f := function($n) { 1 + $f($n + 1) }; $f(0))', /^failed: Stack overflow/],
    ['$sum([1..9999999])', /^failed: /],
    ['$pad("", 1000000000)', /^failed: pads to more than 10000 characters/],
    [
      '($d := function($s, $n) { $n = 0 ? $s : $d($s & $s, $n - 1) }; $d("x", 25))',
      /^failed: its result has more than/,
    ],
    ['$contains($pad("", 10000, "a") & "!", /(a+)+$/)', /^false$/],
  ])('%s', async (source, expected) => {
    expect(await evaluate(source)).toMatch(expected);
  });

  test('count for each record', async () => {
    const expression = compileExpression('$count([1..3000][$ % 2 = 0])');
    for (let run = 0; run < 5; run++) expect(await expression(record)).toEqual({ kind: 'value', text: '1500' });
  });
});

test.each([
  ['title &', /^is not a JSONata expression that can be used: Unexpected end of expression/],
  ['$now()', /\$now is not available$/],
  ['($f := $random; $f())', /\$random is not available$/],
  ['$eval("1")', /\$eval is not available$/],
  [
    '$contains(title, /(?=a)/)',
    /a regular expression is not a pattern: .*look-ahead and look-behind are not supported$/,
  ],
])('refuses %s', (source, message) => {
  expect(() => compileExpression(source)).toThrow(MalformedExpressionError);
  expect(() => compileExpression(source)).toThrow(message);
});

describe('in a field', () => {
  const of = (expression: string) => ({ source: { kind: 'jsonata', expression }, as: [] }) as const;
  const readerOf = (fields: Parameters<typeof sampleSpec>[0]) => compileReader(sampleSpec(fields));
  const spec = sampleSpec().fields;
  const nurse = { ...record, state: 'MA' };

  test('gives its value to the steps, or one problem', async () => {
    const reader = readerOf({
      fields: { ...spec, pay: { ...of('pay.max'), as: ['number'] }, top: of('$error("no")') },
    });
    await reader.prepare?.(nurse);
    expect(reader.read(nurse)).toMatchObject({
      kind: 'invalid',
      posting: { fields: { pay: '30', title: 'Nurse' } },
      problems: [{ field: 'top', message: expect.stringMatching(/^the expression of top fails: no/) }],
    });
  });

  test('is not replaced by the next alternative if it fails', async () => {
    const reader = readerOf({ fields: { ...spec, top: [of('$error("no")'), fromPaths('title')] } });
    await reader.prepare?.(nurse);
    expect(reader.read(nurse)).toMatchObject({ kind: 'invalid', problems: [{ field: 'top' }] });
  });

  test('costs nothing without one, and says so if the record was not prepared', () => {
    expect(compileReader(sampleSpec()).prepare).toBeUndefined();
    const reader = readerOf({ fields: { ...spec, top: of('title') } });
    expect(reader.read(nurse)).toMatchObject({
      problems: [{ message: 'the expression of top fails: it was not evaluated' }],
    });
  });
});
