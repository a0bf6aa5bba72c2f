// Turns Vitest's JSON reports into the verdict of a CI run: skips that are not allowed, and "N passed, N failed" last.
// Usage: node count-tests.mjs FOLDER-OF-REPORTS [STEP-THAT-FAILED]
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

/** Reasons that CI can't remove. They stand in the titles of the tests or suites that are skipped. */
const ALLOWED_SKIPS = ['(skipped: no folder ../shared/feeds)', '(skipped: other users may not enter the repository)'];

const MAX_LINES = 20;
const MAX_LINE_LENGTH = 300;

/** The first lines of error messages, without colours. */
const excerpt = (messages) =>
  stripVTControlCharacters(messages.join('\n'))
    .split('\n')
    .slice(0, MAX_LINES)
    .map((line) => `    ${line.slice(0, MAX_LINE_LENGTH)}`)
    .join('\n');

/** Slow tests run on one release of Node, most of them: the report `node20` has all. */
const isLeftOut = (report, { status, tags = [] }) =>
  report !== 'node20.json' && status === 'skipped' && tags.includes('slow') && !tags.includes('every-node');

const [folder, failedStep] = process.argv.slice(2);
const files = readdirSync(folder)
  .sort()
  .flatMap((name) =>
    JSON.parse(readFileSync(join(folder, name), 'utf8')).testResults.map((file) => ({
      ...file,
      assertionResults: file.assertionResults.filter((test) => !isLeftOut(name, test)),
    })),
  );
const tests = files.flatMap((file) => file.assertionResults.map((test) => ({ ...test, file: file.name })));

const passed = tests.filter((test) => test.status === 'passed').length;
const failures = tests
  .filter((test) => test.status === 'failed')
  .map((test) => ({ name: `${test.file}: ${test.fullName}`, messages: test.failureMessages }));
// A file that could not be loaded has no tests, and a suite may fail in a hook after all its tests passed.
const brokenFiles = files
  .filter((file) => file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed'))
  .map((file) => ({ name: `${file.name} as a whole`, messages: [file.message] }));

const todo = tests.filter((test) => test.status === 'todo');
const skipped = tests.filter((test) => !['passed', 'failed', 'todo'].includes(test.status));
const forbidden = skipped.filter((test) => !ALLOWED_SKIPS.some((reason) => test.fullName.includes(reason)));

console.log('');
if (todo.length > 0) console.log(`${todo.length} to do:\n${todo.map((test) => `  ${test.fullName}`).join('\n')}`);
if (skipped.length > forbidden.length)
  console.log(`${skipped.length - forbidden.length} skipped for an allowed reason`);
for (const test of forbidden) console.log(`skipped, which is not allowed here: ${test.file}: ${test.fullName}`);
// With the reasons, as only the end of a long log may be kept.
for (const { name, messages } of [...failures, ...brokenFiles]) console.log(`failed: ${name}\n${excerpt(messages)}`);

const testFailures = failures.length + brokenFiles.length + forbidden.length;
// A step of tests fails because they do, and they are counted; where none did, the step itself is the failure.
const stepFailures = failedStep && testFailures === 0 ? 1 : 0;
if (failedStep) console.log(`ended at the step "${failedStep}"`);
if (tests.length === 0) console.log('no test ran');

console.log(`${passed} passed, ${testFailures + stepFailures} failed`);
process.exitCode = testFailures + stepFailures > 0 || tests.length === 0 ? 1 : 0;
