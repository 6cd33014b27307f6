import { problemOfPath } from '../../sync/prompt-path.ts'
import type { Refusal } from '../../sync/scan.ts'

// Below the limits of file systems and of the server, with room for an ending and a number.
const maxSegmentBytes = 200
const maxPathBytes = 480

/** A prompt of another tool, in the language of stet. */
export interface ImportedPrompt {
  /** As the other tool names it; becomes a path of stet by `settlePaths`. */
  path: string
  content: string
  /** The file it comes from, relative to what was named; absent where that is the prompt itself. */
  source?: string
  /** Where in a JSON file its entry begins, from 1. */
  line?: number
  /** What could not be carried over, one sentence each. */
  losses: string[]
}

/** What a source holds, converted, and what of it could not be read. */
export interface ReadSource {
  prompts: ImportedPrompt[]
  /** `path` names a file, or an entry of one, which begins on a line. */
  refused: (Refusal & { line?: number })[]
}

/** Makes names to paths that the server and every file system take: a name that had to change is a loss, two that meet are told apart. */
export function settlePaths(prompts: readonly ImportedPrompt[]): ImportedPrompt[] {
  const settled: ImportedPrompt[] = []
  // Without case: on some systems names that differ in it are one file.
  const taken = new Set<string>()
  for (const prompt of prompts) {
    const segments = prompt.path
      .normalize('NFC')
      .split('/')
      .map(safeSegment)
      .filter((segment) => segment !== '')
    while (Buffer.byteLength(segments.join('/')) > maxPathBytes) segments.shift()
    const first = segments.join('/') || 'prompt'
    let path = first
    for (let number = 2; taken.has(path.toLowerCase()); number += 1) path = `${first}-${number}`
    taken.add(path.toLowerCase())
    const losses = path === prompt.path ? prompt.losses : [...prompt.losses, `"${prompt.path}" is now named "${path}"`]
    settled.push({ ...prompt, path, losses })
  }
  return settled
}

function safeSegment(segment: string): string {
  const known = segment.trim().replaceAll(/[^\p{L}\p{M}\p{Nd}_.-]+/gu, '-')
  // What stood at an end leaves no mark there.
  const inner = known === segment ? known : known.replaceAll(/^-+|-+$/g, '')
  const plain = shortened(inner).replace(/(?<!\.)\.+$/, '')
  return plain !== '' && problemOfPath(plain) ? `_${plain}` : plain
}

function shortened(text: string): string {
  const kept = [...text]
  while (Buffer.byteLength(kept.join('')) > maxSegmentBytes) kept.length -= Math.max(1, kept.length - maxSegmentBytes)
  return kept.join('')
}
