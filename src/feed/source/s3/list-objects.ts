// Reads one page of a list of objects (ListObjectsV2).
import { SaxesParser } from 'saxes';
import { BrokenOff } from '../source.ts';

export interface ListedObject {
  readonly key: string;
  readonly modified: string;
  readonly etag: string;
  readonly size: string;
}

export interface ObjectList {
  readonly objects: readonly ListedObject[];
  /** For the request of the next page; `undefined` at the end. */
  readonly next: string | undefined;
}

/** Keys are as they are: services disagree on how `encoding-type=url` writes a space. Throws {@link BrokenOff} for anything that is not a whole list. */
export function parseObjectList(xml: string): ObjectList {
  const objects: ListedObject[] = [];
  let object: Record<string, string> = {};
  const list: Record<string, string> = {};
  const path: string[] = [];
  let text = '';
  const parser = new SaxesParser();
  parser.on('error', (error) => {
    throw new BrokenOff(`the list of objects is not well-formed: ${error.message}`);
  });
  parser.on('opentag', ({ name }) => {
    path.push(name);
    text = '';
    if (name === 'Contents') object = {};
  });
  parser.on('text', (piece) => {
    text += piece;
  });
  parser.on('closetag', ({ name }) => {
    path.pop();
    if (path.length === 1 && name !== 'Contents') list[name] = text;
    else if (path.length === 2 && path[1] === 'Contents') object[name] = text;
    else if (path.length === 1) objects.push(objectOf(object));
    if (path.length === 0 && name !== 'ListBucketResult') throw new BrokenOff('the response is no list of objects');
  });
  parser.write(xml).close();
  if (list.IsTruncated !== 'true' && list.IsTruncated !== 'false') {
    throw new BrokenOff('the list of objects does not say whether it is whole');
  }
  const next = list.IsTruncated === 'true' ? list.NextContinuationToken : undefined;
  if (list.IsTruncated === 'true' && !next) throw new BrokenOff('the list of objects is cut, without a token to go on');
  return { objects, next };
}

function objectOf({ Key, LastModified = '', ETag = '', Size = '' }: Record<string, string>): ListedObject {
  if (Key === undefined) throw new BrokenOff('the list of objects has one without a key');
  return { key: Key, modified: LastModified, etag: ETag, size: Size };
}
