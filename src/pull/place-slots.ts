// Finds the postings of a record with several places by the hash of the record, without parsing it.
import { type HashMask, maskOf, type RecordIndex, type Slot } from '../compact/record-index.ts';
import { HASH_BYTES, interpretedHash, placeMask, xorHash } from '../posting/hash.ts';

/**
 * Each posting is stored with a hash of its own, made of the record's hash and its number among the places. The last one is
 * marked, so a record is known only if every one of its postings is: none gets lost because the others are unchanged.
 */
export class PlaceSlots {
  readonly #index: RecordIndex;
  readonly #interpretation: Buffer;
  /** By number of the place: the masks of a place with others after it, and of a last one. */
  readonly #masks: { readonly more: HashMask; readonly last: HashMask }[] = [];

  constructor(index: RecordIndex, interpretation: Buffer) {
    this.#index = index;
    this.#interpretation = interpretation;
  }

  /** The slots of all postings of the record whose hash starts at `at` in `hashes`; `undefined` if one is not known. */
  find(hashes: Buffer, at: number): readonly Slot[] | undefined {
    const slots: Slot[] = [];
    for (let place = 0; ; place++) {
      const { more, last } = this.#masksOf(place);
      const end = this.#index.findMasked(hashes, at, last);
      if (end >= 0) return [...slots, end];
      const slot = this.#index.findMasked(hashes, at, more);
      if (slot < 0) return undefined;
      slots.push(slot);
    }
  }

  #masksOf(place: number): { readonly more: HashMask; readonly last: HashMask } {
    this.#masks[place] ??= { more: this.#mask(place, false), last: this.#mask(place, true) };
    return this.#masks[place];
  }

  #mask(place: number, isLast: boolean): HashMask {
    return maskOf(interpretedHash(placeMask(place, isLast), 0, this.#interpretation));
  }
}

/**
 * The hashes with which the postings of a record are stored. If its places are unclear, none is the last: then the record is
 * parsed in every pull, which protects the postings that its unreadable places may be.
 * @param recordHash the hash of the record as stored
 */
export function placeHashes(recordHash: Buffer, places: number, isUnclear: boolean): readonly Buffer[] {
  return Array.from({ length: places }, (_, place) => {
    const own = Buffer.from(recordHash.subarray(0, HASH_BYTES));
    xorHash(own, 0, placeMask(place, place === places - 1 && !isUnclear));
    return own;
  });
}
