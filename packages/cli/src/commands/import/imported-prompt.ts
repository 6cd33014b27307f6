import type { Refusal } from '../../sync/scan.ts'
import type { Reference } from './prompt-text.ts'

/** A prompt of another tool as its reader leaves it: references still name the prompts as the other tool does. */
export interface ForeignPrompt {
  /** As the other tool names it. */
  path: string
  /** Becomes the front matter; absent if `text` is already a stet prompt with front matter. */
  front?: Readonly<Record<string, unknown>>
  text: string
  /** The replacements for the marks in `text`, by number. */
  references?: readonly Reference[]
  /** The types of variables that are no texts. */
  types?: ReadonlyMap<string, string>
  /** The file it comes from, relative to what was named; absent where that is the prompt itself. */
  source?: string
  /** Where in a JSON file its entry begins, from 1. */
  line?: number
  /** What could not be carried over, one sentence each. */
  losses: string[]
}

/** A prompt of another tool, in the language of stet, under a path that the server and every file system take. */
export interface ImportedPrompt {
  path: string
  content: string
  source?: string
  line?: number
  losses: string[]
}

/** What a source holds, converted, and what of it could not be read. */
export interface ReadSource {
  prompts: ForeignPrompt[]
  /** `path` names a file, or an entry of one, which begins on a line. */
  refused: (Refusal & { line?: number })[]
}
