/** Returns whether the file has more conflicts between markers than the server's text. A prompt may quote markers. */
export function hasOpenConflict(local: string, remote: string): boolean {
  return countConflicts(local) > countConflicts(remote)
}

/**
 * Counts the places with all three markers that git and `stet pull` write, in order. A line of equal signs alone may be
 * a heading, also between the markers of a conflict.
 */
function countConflicts(text: string): number {
  let count = 0
  let next = '<'
  for (const [{ 0: sign = '' }] of text.matchAll(/^(?:<{7}(?= )|={7}(?=\r?$)|>{7}(?= ))/gm)) {
    if (sign === '<') next = '='
    else if (sign === next && sign === '=') next = '>'
    else if (sign === next) {
      count += 1
      next = '<'
    }
  }
  return count
}
