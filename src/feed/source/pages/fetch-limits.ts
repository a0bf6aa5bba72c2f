// Limits on what is fetched as a whole, and the message where it is too large.

export interface FetchLimits {
  /** Of one page, decompressed. */
  readonly maxPageBytes: number;
  /** The setting of that limit, for people; by default that of pages. */
  readonly sizeSetting?: string;
  /** Until the first byte of one page, in milliseconds. */
  readonly firstByteTimeoutMs: number;
  /** Averaged over 30 s. */
  readonly minBytesPerSecond: number;
}

export const tooLarge = ({ maxPageBytes, sizeSetting }: FetchLimits): string =>
  sizeSetting === undefined
    ? `a page is larger than the limit of ${maxPageBytes} bytes; ask for smaller pages, or raise max_page_bytes`
    : `it is larger than the limit of ${maxPageBytes} bytes; raise ${sizeSetting}`;
