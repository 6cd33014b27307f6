/** Makes the path of a prompt from what a person types. Pure. */

/** Runs of characters that no path may have, with the hyphens among them. */
const gaps = /[^\p{L}\p{M}\p{Nd}_.]+/gu
/** The accents of a Latin letter. In other scripts, marks belong to the word. */
const accents = /(?<=\p{Script=Latin})\p{M}+/gu

/**
 * A segment that no path may have becomes a slug, as does one with accents. Returns an empty text if nothing is left.
 *
 * @param known segments of other paths, for example `ünï`. They stay as they are.
 */
export function promptPath(typed: string, known: ReadonlySet<string> = new Set()): string {
  const segments = typed.normalize('NFC').split('/')
  return segments
    .map((segment) => (known.has(segment) ? segment : slug(segment)))
    .filter((segment) => segment !== '' && segment !== '.' && segment !== '..')
    .join('/')
}

function slug(segment: string): string {
  const plain = segment.normalize('NFD').replace(accents, '').normalize('NFC')
  const joined = plain.replace(gaps, (gap, at: number) => {
    if (/^-+$/.test(gap)) return gap
    return at === 0 || at + gap.length === plain.length ? '' : '-'
  })
  return joined === segment ? segment : joined.toLowerCase().normalize('NFC')
}
