// Parses cron expressions. The parser is loaded for the first one: commands should start fast.
import { createRequire } from 'node:module';
import type { CronExpression, CronExpressionOptions, CronExpressionParser } from 'cron-parser';

let parser: typeof CronExpressionParser | undefined;

/** Throws an error whose message says what is wrong with the expression. */
export function parseCron(expression: string, options?: CronExpressionOptions): CronExpression {
  parser ??= (createRequire(import.meta.url)('cron-parser') as { CronExpressionParser: typeof CronExpressionParser })
    .CronExpressionParser;
  return parser.parse(expression, options);
}
