import {
  CallerLimitError,
  type CompileIssue,
  type Fault,
  FaultError,
  issueAt,
  normaliseLineEnds,
  type Place,
} from './compile-error.ts'
import { type Program, programOf } from './evaluate/program.ts'
import { type PromptIssue, promptIssues } from './front-matter/prompt-issues.ts'
import { readFrontMatter } from './front-matter/read-front-matter.ts'
import { type ParsedText, parseText } from './parse/parse-text.ts'
import { MAX_ISSUES, type ResolvedText, resolveText } from './parse/references.ts'
import { defined } from './shared/defined.ts'
import { analyse } from './syntax/analysis.ts'

/** A prompt and the documents that it references directly or indirectly, keyed by path. */
export interface PromptSource {
  path: string
  content: string
  documents: Readonly<Record<string, string>>
}

export interface CompiledPrompt {
  path: string
  config: Record<string, unknown>
  parameters: string[]
  resolvedContent: string
  references: string[]
  missing: string[]
  usesSteps: boolean
  issues: CompileIssue[]
  warnings: CompileIssue[]
  /** Settings that a run would refuse, and probable mistakes. Computed at each call. */
  promptIssues(): PromptIssue[]
  /** The program to evaluate. Undefined if there are issues. */
  program: Program | undefined
  /** Maps offsets of the evaluated text to a range in a document. */
  place(start: number, end?: number): Place
}

const MAX_CONTENT_BYTES = 262_144

/** The caller's own limits, in characters. */
export interface CompileLimits {
  /** Counts the prompt and the documents that it may refer to, and each document again when it is inlined. */
  maxTextChars?: number
  maxFrontMatterChars?: number
}

/** Reports the problems of an invalid prompt in `issues` instead of throwing an error. @throws CallerLimitError */
export function compilePrompt(source: PromptSource, limits: CompileLimits = {}): CompiledPrompt {
  const text = normaliseLineEnds(source.content)
  if (new TextEncoder().encode(source.content).length > MAX_CONTENT_BYTES) {
    return broken(source, text, { code: 'limit-exceeded', message: 'The prompt is larger than 256 KB', start: 0 })
  }
  const { maxTextChars = Number.POSITIVE_INFINITY, maxFrontMatterChars = Number.POSITIVE_INFINITY } = limits
  if (charsOf(source) > maxTextChars) throw new CallerLimitError()
  let root: ParsedText
  try {
    root = parseText(text)
  } catch (error) {
    if (!(error instanceof FaultError)) throw error
    const { config } = readFrontMatter(error.config ?? '', maxFrontMatterChars)
    return { ...broken(source, text, error.fault), config }
  }
  const front = readRootFrontMatter(root, source.path, maxFrontMatterChars)
  const resolved = resolveText(source.path, root, source.documents, maxTextChars)
  const { config } = front
  const found = evaluated(source, root, resolved, front.issues)
  return { ...found, config, promptIssues: () => promptIssues(source.path, root, config, found.program?.fragment) }
}

function charsOf({ content, documents }: PromptSource): number {
  return Object.values(documents).reduce((sum, text) => sum + text.length, content.length)
}

function broken(source: PromptSource, text: string, fault: Fault): CompiledPrompt {
  return {
    path: source.path,
    config: {},
    parameters: [],
    resolvedContent: source.content,
    references: [],
    missing: [],
    usesSteps: false,
    issues: [issueAt({ path: source.path, text, ...fault }, fault.code, fault.message)],
    warnings: [],
    promptIssues: () => [],
    program: undefined,
    place: (start) => ({ path: source.path, text, start }),
  }
}

function readRootFrontMatter(
  root: ParsedText,
  path: string,
  maxChars: number,
): { config: Record<string, unknown>; issues: CompileIssue[] } {
  const node = root.fragment.children.find((child) => child.type === 'Config')
  if (node?.type !== 'Config') return { config: {}, issues: [] }
  const { config, faults } = readFrontMatter(node.value, maxChars)
  const valueAt = node.start + '---'.length
  const issues = faults.map((fault) =>
    issueAt({ path, text: root.text, start: valueAt + fault.start }, fault.code, fault.message),
  )
  return { config, issues }
}

function evaluated(
  source: PromptSource,
  root: ParsedText,
  resolved: ResolvedText,
  found: readonly CompileIssue[],
): Omit<CompiledPrompt, 'config' | 'promptIssues'> {
  const asWritten = resolved.text === undefined || resolved.text === root.text
  const tree = asWritten ? root : parseText(resolved.text ?? '')
  const place = (start: number, end?: number): Place => {
    if (!asWritten) return resolved.place(start, end)
    return defined({ path: source.path, text: root.text, start, end })
  }
  const analysis = analyse(tree.fragment)
  const faults = analysis.faults.map((fault) => issueAt(place(fault.start, fault.end), fault.code, fault.message))
  const issues = [...found, ...resolved.issues, ...faults].slice(0, MAX_ISSUES)
  const message = 'The schema is read as an object: write it with braces of its own, schema={{ { … } }}'
  return {
    path: source.path,
    parameters: analysis.parameters,
    resolvedContent: asWritten ? source.content : (resolved.text ?? source.content),
    references: resolved.references,
    missing: resolved.missing,
    usesSteps: analysis.usesSteps,
    issues,
    warnings: tree.bareSchemas
      .slice(0, MAX_ISSUES)
      .map((offset) => issueAt(place(offset), 'schema-without-braces', message)),
    program: issues.length === 0 ? programOf(tree.fragment) : undefined,
    place,
  }
}
