import { ErrorCode } from 'bullmq';
import { expect, it } from 'vitest';
import { LostJobError, reportedError } from '../../src/queue/shared-connection.ts';

it('a lost queue job is distinguished from an unreachable queue', () => {
  const missing = Object.assign(new Error('Missing key for job 5. moveToFinished'), { code: ErrorCode.JobNotExist });
  expect(reportedError(missing, [])).toBeInstanceOf(LostJobError);
  const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
  expect(reportedError(refused, [])).not.toBeInstanceOf(LostJobError);
});
