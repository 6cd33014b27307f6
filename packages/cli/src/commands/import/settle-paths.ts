import { problemOfPath } from '../../sync/prompt-path.ts'

// Below the limits of file systems and of the server, with room for an extension and a number.
const maxSegmentBytes = 200
const maxPathBytes = 480

/** Turns names into paths that the server and every file system accept, in the order of the names. Collisions get a suffix. */
export function settlePaths(names: readonly string[]): string[] {
  // Compared without case, because some file systems ignore it.
  const taken = new Set<string>()
  return names.map((name) => {
    const segments = name
      .normalize('NFC')
      .split('/')
      .map(safeSegment)
      .filter((segment) => segment !== '')
    while (Buffer.byteLength(segments.join('/')) > maxPathBytes) segments.shift()
    const first = segments.join('/') || 'prompt'
    let path = first
    for (let number = 2; taken.has(path.toLowerCase()); number += 1) path = `${first}-${number}`
    taken.add(path.toLowerCase())
    return path
  })
}

function safeSegment(segment: string): string {
  const known = segment.trim().replaceAll(/[^\p{L}\p{M}\p{Nd}_.-]+/gu, '-')
  // Separators at either end are dropped.
  const inner = known === segment ? known : known.replaceAll(/^-+|-+$/g, '')
  const plain = shortened(inner).replace(/(?<!\.)\.+$/, '')
  return plain !== '' && problemOfPath(plain) ? `_${plain}` : plain
}

function shortened(text: string): string {
  const kept = [...text]
  while (Buffer.byteLength(kept.join('')) > maxSegmentBytes) kept.length -= Math.max(1, kept.length - maxSegmentBytes)
  return kept.join('')
}
