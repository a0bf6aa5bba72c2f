// What needs attention, with the one thing to do next.
import { excerpt } from '../../../posting/xml-characters.ts';
import type { Attention, AttentionPlace } from '../../../runtime/attention.ts';
import { pageAddress } from '../addresses.ts';
import { When } from '../when.tsx';

function addressOfPlace(place: AttentionPlace): string {
  switch (place.kind) {
    case 'site':
      return pageAddress.site(place.site);
    case 'feed':
      return pageAddress.feed(place.feed);
    case 'pulls':
      return pageAddress.pulls(place.feed);
    case 'rekey':
      return pageAddress.rekey(place.feed);
    case 'held':
      return pageAddress.held(place.feed);
    case 'doubts':
      return pageAddress.doubts(place.feed);
    case 'review':
      return pageAddress.review({ feed: place.feed });
    case 'queues':
      return pageAddress.queues();
    default:
      return place satisfies never;
  }
}

const capitalised = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

export const AttentionList = ({ prefix, attention }: { prefix: string; attention: readonly Attention[] }) => {
  const [first, ...others] = attention;
  if (first === undefined) {
    return <p class="notice good">All is well. Nothing needs you.</p>;
  }
  return (
    <section class={`next ${first.level === 'failing' ? 'bad' : 'warn'}`} aria-labelledby="next">
      <h2 id="next">To do next</h2>
      <AttentionText item={first} />
      <p>
        <a class="button main" href={prefix + addressOfPlace(first.place)}>
          {first.next}
        </a>
      </p>
      {others.length > 0 && (
        <ul class="others" aria-label="After that">
          {others.map((item) => (
            <li>
              <AttentionText item={item} />
              <a href={prefix + addressOfPlace(item.place)}>{item.next}</a>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
};

const AttentionText = ({ item: { level, text, detail, since } }: { item: Attention }) => (
  <p>
    <span class={`status ${level === 'failing' ? 'bad' : 'warn'}`}>{capitalised(text)}</span>
    {since !== undefined && (
      <span class="quiet">
        {' since '}
        <When at={since} />
      </span>
    )}
    {detail !== undefined && <span class="detail">{excerpt(detail, 300)}</span>}
  </p>
);
