// A message with what can be done about it: as commands, and as a link where a page does the same.
import type { Action } from '../../plan/action.ts';
import { actionsOf, type Message, tell, type WriteAction } from '../../plan/message.ts';
import { pageAddress } from './addresses.ts';

export interface ToldProps {
  readonly message: Message;
  readonly prefix: string;
  readonly write: WriteAction;
}

export const Told = ({ message, prefix, write }: ToldProps) => (
  <>
    {tell(message, write)}
    {actionsOf(message).map((action) => {
      const page = pageOf(action);
      return (
        page !== undefined && (
          <>
            {' '}
            <a href={prefix + page.address}>{page.words}</a>
          </>
        )
      );
    })}
  </>
);

function pageOf(action: Action): { readonly words: string; readonly address: string } | undefined {
  if (action.kind === 'rekey_feed') return { words: 'Compare them here', address: pageAddress.rekey(action.feed) };
  return undefined;
}
