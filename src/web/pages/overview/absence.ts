// Why a feed of the database is not pulled here, in words.
import type { MarkedFeed } from '../../../review/read-model/feed.ts';

export const absence = ({ retired, served }: Pick<MarkedFeed, 'retired' | 'served'>): string => {
  if (retired) return 'retired';
  return served ? 'of another configuration' : 'not configured';
};
