// Parses sizes such as `500MB` or `5 MiB`.

const UNITS: Readonly<Record<string, number>> = {
  B: 1,
  kB: 1e3,
  KB: 1e3,
  MB: 1e6,
  GB: 1e9,
  TB: 1e12,
  KiB: 2 ** 10,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
  TiB: 2 ** 40,
};

export const SIZE_PATTERN = /^(\d+(?:\.\d+)?) ?([kKMGT]?i?B)$/;

/** A size in bytes; `undefined` if the text is not a size. */
export function parseSize(text: string): number | undefined {
  const [, amount = '', unit = ''] = SIZE_PATTERN.exec(text) ?? [];
  const bytes = Object.hasOwn(UNITS, unit) ? UNITS[unit] : undefined;
  return bytes === undefined ? undefined : Math.round(Number(amount) * bytes);
}
