// A message with what can be done about it: as commands, and as a link where a page does the same.
import type { Action } from '../../plan/action.ts';
import { actionsOf, type Notice } from '../../plan/message.ts';
import { pageAddress } from './addresses.ts';

export interface ToldProps {
  readonly notice: Notice;
  readonly prefix: string;
}

export const Told = ({ notice: { messages, text }, prefix }: ToldProps) => (
  <>
    {text}
    {messages.flatMap(actionsOf).map((action) => {
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
  if (action.kind === 'compare_keys') {
    return { words: 'Compare them here', address: pageAddress.rekey(action.parameters.feed) };
  }
  if (action.kind === 'rekey_feed') return { words: 'Compare them here', address: pageAddress.rekey(action.feed) };
  return undefined;
}
