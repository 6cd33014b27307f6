import type { Refusal } from '../../sync/scan.ts'
import type { Reference } from './prompt-text.ts'

/** A prompt as its reader leaves it: references still use the other tool's names. */
export interface ForeignPrompt {
  /** The other tool's name. */
  path: string
  /** Becomes the front matter; absent if `text` already has front matter. */
  front?: Readonly<Record<string, unknown>>
  text: string
  /** Replacements for the marks in `text`, by number. */
  references?: readonly Reference[]
  /** Types of variables other than text. */
  types?: ReadonlyMap<string, string>
  /** Its source file, relative to the source argument; absent if the file is the prompt itself. */
  source?: string
  /** The line where its entry begins in a JSON file, from 1. */
  line?: number
  /** The parts that could not be converted, one sentence each. */
  losses: string[]
}

/** A converted prompt, with a path that the server and every file system accept. */
export interface ImportedPrompt {
  path: string
  content: string
  source?: string
  line?: number
  losses: string[]
}

/** The converted prompts of a source, and its errors. */
export interface ReadSource {
  prompts: ForeignPrompt[]
  /** `path` names a file, or an entry that begins on a line of it. */
  refused: (Refusal & { line?: number })[]
}
