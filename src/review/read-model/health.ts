// The health check as scripts see it.
import { tell, type WriteAction } from '../../plan/message.ts';
import type { Assessment, HealthCondition } from '../assess-health.ts';

const conditionJson = ({ kind, site, feed, message, detail }: HealthCondition, write: WriteAction) => ({
  condition: kind,
  site: site ?? null,
  feed: feed ?? null,
  message: tell(message, write),
  detail: detail === undefined ? null : tell(detail, write),
});

export const healthJson = ({ failing, review }: Assessment, write: WriteAction) => ({
  kind: 'check',
  status: failing.length > 0 ? 'failing' : review.length > 0 ? 'review' : 'well',
  failing: failing.map((condition) => conditionJson(condition, write)),
  review: review.map((condition) => conditionJson(condition, write)),
});
