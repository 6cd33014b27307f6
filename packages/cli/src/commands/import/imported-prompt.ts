import type { Refusal } from '../../sync/scan.ts'
import type { Reference } from './prompt-text.ts'

/** An imported prompt before linking: references still use the other tool's names. */
export interface ForeignPrompt {
  path: string
  /** References use this name. Absent if they use the path. */
  key?: string
  /** Becomes the front matter. Absent if `text` already has one. */
  front?: Readonly<Record<string, unknown>>
  text: string
  references?: readonly Reference[]
  types?: ReadonlyMap<string, string>
  /** Maps the names of variables to the other tool's. */
  sources?: ReadonlyMap<string, string>
  /** The source file, relative to the source argument. Absent for prompts of the discontinued service. */
  source?: string
  line?: number
  /** One sentence for each part that could not be converted. */
  losses: string[]
}

/** A linked prompt. The server and every file system accept its path. */
export interface ImportedPrompt {
  path: string
  content: string
  source?: string
  line?: number
  losses: string[]
}

export interface ReadSource {
  prompts: ForeignPrompt[]
  /** `path` names a file, or an entry that begins on `line`. */
  refused: (Refusal & { line?: number })[]
}
