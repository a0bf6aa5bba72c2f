// The schema of conditions on a record: `{ remote: true, country: { not: US } }`, or a list of such groups.
import { z } from 'zod';
import type { Condition, ConditionGroups } from '../../posting/conditions.ts';
import { compilePattern, MalformedPatternError } from '../../posting/pattern.ts';
import { pathSchema } from './scalars.ts';

/** `true` and whole numbers stand for their text; a number such as 1.50 would lose its zero. */
const scalars = [z.string(), z.boolean(), z.int()] as const;
const texts = [...scalars, z.array(z.union(scalars)).min(1)] as const;
type WrittenTexts = z.output<(typeof texts)[number]>;

const toTexts = (written: WrittenTexts): readonly string[] => [written].flat().map(String);
const textsSchema = z.union(texts).transform(toTexts);

/** A regular expression in RE2's syntax. */
export const patternSchema = z
  .string()
  .min(1)
  .superRefine((source, context) => {
    try {
      compilePattern(source);
    } catch (error) {
      if (!(error instanceof MalformedPatternError)) throw error;
      context.addIssue(error.message);
    }
  });

const testSchema = z
  .strictObject({
    is: textsSchema.optional().describe('One of the texts at the path equals this text, or one of these.'),
    not: textsSchema.optional().describe('None of the texts at the path equals this text, or any of these.'),
    exists: z.boolean().optional().describe('`true`: there is a text at the path; `false`: there is none.'),
    matches: patternSchema.optional().describe('This regular expression (RE2) occurs in one of the texts.'),
    not_matches: patternSchema.optional().describe('This regular expression (RE2) occurs in none of the texts.'),
  })
  .refine((test) => Object.keys(test).length > 0, { error: 'says nothing; write exists: true, for example' });

const groupSchema = z
  .record(pathSchema, z.union([...texts, testSchema]))
  .refine((group) => Object.keys(group).length > 0, { error: 'has no condition' });

/** One group of conditions that must all hold, or several, of which one must. */
export const conditionsSchema = z
  .union([groupSchema, z.array(groupSchema)])
  .transform((groups): ConditionGroups => [groups].flat().map((group) => Object.entries(group).map(toCondition)));

type WrittenTest = z.output<typeof groupSchema>[string];

function toCondition([path, test]: [string, WrittenTest]): Condition {
  if (typeof test !== 'object' || Array.isArray(test)) return { path, is: toTexts(test) };
  const { not_matches, ...others } = test;
  return { path, ...others, ...(not_matches === undefined ? {} : { notMatches: not_matches }) };
}
