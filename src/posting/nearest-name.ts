// Finds the name that a mistyped one probably stands for.
// Not fastest-levenshtein: a dozen lines do, as only names of similar length are compared.

/** The known name closest to a mistyped one, if close enough to be the intended one. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  const plain = name.toLowerCase().replaceAll('-', '_');
  const most = Math.max(1, Math.floor(plain.length / 3));
  const ranked = known
    // Names of a feed may be of any length, and comparing them takes time.
    .filter((candidate) => Math.abs(candidate.length - plain.length) <= most)
    .map((candidate) => ({ candidate, distance: editDistance(plain, candidate.toLowerCase().replaceAll('-', '_')) }))
    .sort((a, b) => a.distance - b.distance);
  const [best] = ranked;
  return best !== undefined && best.distance <= most ? best.candidate : undefined;
}

/** The Levenshtein distance of two names. */
function editDistance(from: string, to: string): number {
  let above = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const replaced = (above[column - 1] ?? 0) + (from[row - 1] === to[column - 1] ? 0 : 1);
      current.push(Math.min(replaced, (above[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    above = current;
  }
  return above[to.length] ?? 0;
}
