import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Message } from '@stet/contract/vocabulary'
import type { CompileIssue, TemplateSource } from '../../src/features/templates/template-engine.ts'

type ShortMessage = { role: string; content: unknown } & Record<string, unknown>

interface ExpectedStep {
  /** The messages that this step adds to the conversation. */
  added: ShortMessage[]
  /** The messages that the model receives. */
  input?: ShortMessage[]
  config?: Record<string, unknown>
}

/** One prompt with its expected result, from the JSON file next to a `.promptl` file. */
export interface CorpusCase {
  name: string
  content: string
  /**
   * `spec`: expected by the language description. `engine`: expected by promptl-ai, which the test also calls directly.
   */
  source: 'spec' | 'engine'
  about: string
  parameters?: Record<string, unknown>
  documents?: Record<string, string>
  answers?: (string | ShortMessage[])[]
  variables?: string[]
  config?: Record<string, unknown>
  /** The first step's provider request settings. */
  settings?: Record<string, unknown>
  /** The first step's other configuration keys that stet reads. */
  read?: Record<string, unknown>
  warnings?: Partial<CompileIssue>[]
  steps?: ExpectedStep[]
  error?: Partial<CompileIssue>
}

const folder = fileURLToPath(new URL('.', import.meta.url))

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

export function inFull(messages: readonly ShortMessage[]): Message[] {
  return messages.map(({ content, ...message }) => ({
    ...message,
    content: typeof content === 'string' ? [{ type: 'text', text: content }] : content,
  })) as Message[]
}

export function answersOf({ answers = [] }: CorpusCase): Message[][] {
  return answers.map((answer) => inFull(typeof answer === 'string' ? [{ role: 'assistant', content: answer }] : answer))
}
