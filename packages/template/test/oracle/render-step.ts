import {
  Adapters,
  Chain,
  CompileError,
  type Fragment as EngineFragment,
  type Message as EngineMessage,
  parse,
} from 'promptl-ai'
import { CompileIssueError, issueAt, normaliseLineEnds } from '../../src/compile-error.ts'
import { type CompiledPrompt, compilePrompt, type PromptSource } from '../../src/compiled-prompt.ts'
import { checkDepth } from '../../src/evaluate/values/value-depth.ts'
import type { ParsedText } from '../../src/parse/parse-text.ts'
import { jsonPart } from '../../src/rendering/json-part.ts'
import type { Fragment } from '../../src/syntax/nodes.ts'
import { type ChainState, decodeStash, encodeStash, openStep, restoreStatuses, takeStatuses } from './chain-state.ts'
import { repairTree, type Trace } from './repaired-tree.ts'
import { type RenderedMessage, ToolArgumentsError, toRendered } from './wire-message.ts'

/** The engine evaluates a tree of its own, because the repairs change it. */
export interface OraclePrompt extends CompiledPrompt {
  tree: ParsedText
  trace?: Trace
}

export function oraclePrompt(source: PromptSource): OraclePrompt {
  const prompt = compilePrompt(source)
  const [issue] = prompt.issues
  if (issue) throw new CompileIssueError(issue)
  const text = normaliseLineEnds(prompt.resolvedContent)
  // The engine locates some faults by line numbers, which only its own parser sets.
  const fragment = parse(text) as unknown as Fragment
  return { ...prompt, tree: { text, fragment, bareSchemas: [] } }
}

export interface StepInput {
  parameters: Readonly<Record<string, unknown>>
  /** The value of `$now` in ISO 8601. */
  now: string
  /** The state that the previous step returned. The first step has none. */
  state?: ChainState
  /** The messages that the previous step's model calls added. The last assistant message is the final answer. */
  answer?: RenderedMessage[]
}

export type RenderedStep =
  | {
      done: false
      input: RenderedMessage[]
      /** The messages that this step rendered. */
      added: RenderedMessage[]
      config: Record<string, unknown>
      state: ChainState
    }
  | { done: true; added: RenderedMessage[] }

interface RepairedPrompt {
  tree: ParsedText
  trace: Trace
}

/** Repairs each tree only once, because a second pass would rewrite the first pass's result. */
function repairedPrompt(prompt: OraclePrompt): RepairedPrompt {
  const { tree } = prompt
  if (!prompt.trace) {
    prompt.trace = { now: new Date(0), at: undefined }
    repairTree(tree, prompt.trace)
  }
  return { tree, trace: prompt.trace }
}

/**
 * Renders the next step. The first step is never `done`, even if it renders no message. Calls for one compiled prompt
 * must not overlap, because the engine keeps state in the tree.
 * @throws CompileIssueError
 */
export async function renderByEngine(prompt: OraclePrompt, input: StepInput): Promise<RenderedStep> {
  const repaired = repairedPrompt(prompt)
  repaired.trace.now = new Date(input.now)
  repaired.trace.at = undefined
  try {
    return await nextStep(prompt, repaired.tree, input)
  } catch (error) {
    throw positioned(prompt, repaired, error)
  }
}

/** A prompt without steps is rendered only once, so no state is needed. */
const NOTHING_KEPT: ChainState = { history: [], isolated: false, stash: [], pointers: {}, statuses: [] }

async function nextStep(prompt: OraclePrompt, tree: ParsedText, input: StepInput): Promise<RenderedStep> {
  const { state } = input
  if (state && !prompt.usesSteps) return { done: true, added: [] }
  restoreStatuses(tree.fragment, state?.statuses ?? [])
  const answer = input.answer ?? []
  const final = finalAnswer(answer, tree)
  const chain = state ? continuedChain(prompt, tree, state) : startedChain(prompt, tree, input.parameters)
  const { messages, config, completed } = await chain.step(state ? [final] : undefined)
  if (completed && state) return { done: true, added: [] }
  const { isolated, ...written } = config
  const stepConfig = overFrontMatter(written, prompt.config)
  checkDepth(stepConfig)
  const repeated = state && !isolated ? 1 : 0
  const added = messages.slice(repeated).map(toRendered)
  const before = state ? [...state.history, ...(state.isolated ? [] : answer)] : []
  const { scope } = chain.serialize()
  return {
    done: false,
    input: isolated ? added : [...before, ...added],
    added,
    config: stepConfig,
    state: prompt.usesSteps
      ? {
          history: isolated ? before : [...before, ...added],
          isolated: Boolean(isolated),
          stash: encodeStash(scope.stash),
          pointers: scope.pointers,
          statuses: takeStatuses(tree.fragment),
        }
      : NOTHING_KEPT,
  }
}

/** A step attribute whose value is undefined does not override the front matter. */
function overFrontMatter(written: Record<string, unknown>, front: Record<string, unknown>): Record<string, unknown> {
  const entries = Object.entries(written)
  if (entries.every(([, value]) => value !== undefined)) return written
  return Object.fromEntries(
    entries.map(([key, value]) => [key, value === undefined && Object.hasOwn(front, key) ? front[key] : value]),
  )
}

function startedChain(prompt: OraclePrompt, tree: ParsedText, parameters: Readonly<Record<string, unknown>>): Chain {
  const used = prompt.parameters.filter((name) => Object.hasOwn(parameters, name))
  return new Chain({
    prompt: tree.text,
    parameters: Object.fromEntries(used.map((name) => [name, parameters[name]])),
    serialized: { ast: engineTree(tree), globalConfig: prompt.config },
    adapter: Adapters.default,
  })
}

function continuedChain(prompt: OraclePrompt, tree: ParsedText, state: ChainState): Chain {
  const chain = Chain.deserialize({
    serialized: {
      rawText: tree.text,
      ast: engineTree(tree),
      scope: { stash: decodeStash(state.stash), pointers: { ...state.pointers } },
      didStart: true,
      completed: false,
      adapterType: 'default',
      compilerOptions: {},
      globalConfig: prompt.config,
      globalMessages: [],
    },
  })
  if (!chain) throw new Error('The chain state is empty')
  return chain
}

/**
 * Only the last assistant message fills the variables of `as` and `raw`. The engine would also include earlier
 * tool-call messages.
 */
function finalAnswer(answer: readonly RenderedMessage[], tree: ParsedText): EngineMessage {
  const last = answer.findLast((message) => message.role === 'assistant') ?? { role: 'assistant', content: [] }
  const readsJson = openStep(tree.fragment)?.attributes.some((attribute) => attribute.name === 'schema')
  if (!readsJson) return last as unknown as EngineMessage
  const content = last.content.map((part) =>
    part.type === 'text' ? { ...part, text: jsonPart(String(part['text'])) } : part,
  )
  return { ...last, content } as unknown as EngineMessage
}

function positioned(prompt: OraclePrompt, { trace }: RepairedPrompt, error: unknown): unknown {
  const at = prompt.place(trace.at?.start ?? 0, trace.at?.end)
  if (error instanceof CompileError) {
    const isEmptyText = error.code === 'invalid-content-type' && error.message.endsWith(': text')
    const code = isEmptyText ? 'empty-content-tag' : error.code
    const message = isEmptyText ? 'Content tags cannot be empty' : error.message
    return new CompileIssueError(issueAt(prompt.place(error.startIndex, error.endIndex), code, message))
  }
  if (error instanceof ToolArgumentsError) {
    return new CompileIssueError(issueAt(at, 'invalid-tool-call-arguments', error.message))
  }
  if (error instanceof TypeError) return new CompileIssueError(issueAt(at, 'variable-not-defined', error.message))
  if (error instanceof RangeError) return new CompileIssueError(issueAt(at, 'limit-exceeded', error.message))
  return error instanceof Error ? new CompileIssueError(issueAt(at, 'function-call-error', error.message)) : error
}

function engineTree(tree: ParsedText): EngineFragment {
  return tree.fragment as unknown as EngineFragment
}
