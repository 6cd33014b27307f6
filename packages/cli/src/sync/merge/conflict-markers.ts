const anyMarker = /^(?:<{7}(?= )|={7}(?=\r?$)|>{7}(?= ))/gm

/**
 * Returns whether the file has conflict markers that the server's text lacks. A prompt may quote markers. While a merge
 * waits for a push, one marker is enough: the user may have deleted only some.
 */
export function hasOpenConflict(local: string, remote: string, isMergePending: boolean): boolean {
  const count = isMergePending ? countMarkers : countConflicts
  return count(local) > count(remote)
}

function countMarkers(text: string): number {
  return text.match(anyMarker)?.length ?? 0
}

/**
 * Counts the places where the three markers that git and `stet pull` write follow one another in order. A line of equal
 * signs alone may be a heading.
 */
function countConflicts(text: string): number {
  const markers = text.match(anyMarker) ?? []
  return markers.filter((start, index) => {
    const [middle = '', end = ''] = markers.slice(index + 1, index + 3)
    return start.startsWith('<') && middle.startsWith('=') && end.startsWith('>')
  }).length
}
