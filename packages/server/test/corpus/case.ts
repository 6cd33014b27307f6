import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Message } from '../../src/features/templates/message.ts'
import type { CompileIssue, TemplateSource } from '../../src/features/templates/template-engine.ts'

/** A message whose content may be written as one text. */
type ShortMessage = { role: string; content: unknown } & Record<string, unknown>

interface ExpectedStep {
  /** The messages that the step adds to the conversation. */
  added: ShortMessage[]
  /** All that the model receives. */
  input?: ShortMessage[]
  config?: Record<string, unknown>
}

/** One prompt and its expected result: the JSON file beside a `.promptl` file. */
export interface CorpusCase {
  name: string
  content: string
  /** `spec`: expected by the language's description. `engine`: by promptl-ai, asked directly as well. */
  source: 'spec' | 'engine'
  /** The one thing that the prompt shows. */
  about: string
  parameters?: Record<string, unknown>
  documents?: Record<string, string>
  answers?: (string | ShortMessage[])[]
  /** Free variables. */
  variables?: string[]
  /** The front matter. */
  config?: Record<string, unknown>
  /** The provider request of the first step. */
  settings?: Record<string, unknown>
  /** Further keys of the configuration that stet reads, of the first step. */
  read?: Record<string, unknown>
  warnings?: Partial<CompileIssue>[]
  steps?: ExpectedStep[]
  error?: Partial<CompileIssue>
}

const folder = fileURLToPath(new URL('.', import.meta.url))

/** All prompts of this folder, with their expectations. */
export function corpusCases(): CorpusCase[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.promptl'))
  return files.sort().map((file) => {
    const name = file.replace(/\.promptl$/, '').replaceAll('\\', '/')
    const expected = JSON.parse(readFileSync(`${folder}${name}.json`, 'utf8'))
    return { name, content: readFileSync(`${folder}${file}`, 'utf8'), ...expected }
  })
}

export function sourceOf({ name, content, documents = {} }: CorpusCase): TemplateSource {
  return { path: `corpus/${name}`, content, documents }
}

/** Messages in full: a content given as text is one text part. */
export function inFull(messages: readonly ShortMessage[]): Message[] {
  return messages.map(({ content, ...message }) => ({
    ...message,
    content: typeof content === 'string' ? [{ type: 'text', text: content }] : content,
  })) as Message[]
}

export function answersOf({ answers = [] }: CorpusCase): Message[][] {
  return answers.map((answer) => inFull(typeof answer === 'string' ? [{ role: 'assistant', content: answer }] : answer))
}
