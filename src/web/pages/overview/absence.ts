// Why a feed of the database is not pulled here, in words.
import type { FeedStatus } from '../../../review/read-model/feed.ts';

export const absence = ({ retired, served }: Pick<FeedStatus, 'retired' | 'served'>): string => {
  if (retired) return 'retired';
  return served ? 'of another configuration' : 'not configured';
};
