import { ConfigurationError } from '../index.ts'
import { writeConversation } from './adapter.ts'
import { answerStep } from './chain.ts'
import { refusedParameters, runFailure } from './failures.ts'
import type { RenderChainOptions, Rendered, RenderOptions, Source } from './options.ts'
import {
  CallerLimitError,
  type CompiledPrompt,
  CompileIssueError,
  compilePrompt,
  type RenderedMessage,
  type RenderedStep,
  readParameters,
  renderStep,
  type StepInput,
} from './prompt-engine.ts'

/** Ten times that of the server, because the application renders only its own prompts: 0.2 to 1 s. */
const DEFAULT_LIMIT = 10_000_000

interface Opened {
  prompt: CompiledPrompt
  input: Pick<StepInput, 'parameters' | 'now'>
  limit: number
}

export async function renderFirst<M>(source: Source, o: RenderOptions): Promise<Rendered<M>> {
  const { prompt, input, limit } = open(source, o)
  const step = next(prompt, input, limit)
  // The first step is never `done`. This check only narrows the type.
  if (step.done) return { config: {}, messages: [] }
  return writeConversation(step.config, step.input, o)
}

export async function renderSteps<M>(source: Source, o: RenderChainOptions<M>): Promise<Rendered<M>> {
  const { prompt, input, limit } = open(source, o)
  const conversation: RenderedMessage[] = []
  let config = prompt.config
  let goOn: Pick<StepInput, 'state' | 'answer'> = {}
  for (let number = 1; ; number++) {
    const step = next(prompt, { ...input, ...goOn }, limit)
    conversation.push(...step.added)
    if (step.done) break
    config = step.config
    const { answer, isPaused } = await answerStep({ number, input: step.input, config }, o)
    conversation.push(...answer)
    if (isPaused) break
    goOn = { state: step.state, answer }
  }
  return writeConversation(config, conversation, o)
}

function open(
  source: Source,
  { parameters = {}, references = {}, fullPath, limit = DEFAULT_LIMIT }: RenderOptions,
): Opened {
  if (!(limit > 0)) throw new ConfigurationError('limit must be a number above 0')
  const { content, path } = typeof source === 'string' ? { content: source, path: undefined } : source
  const prompt = compilePrompt({ path: fullPath ?? path ?? 'prompt', content, documents: references })
  const read = readParameters(prompt.config, plain(parameters))
  if ('problem' in read) throw refusedParameters(read.problem)
  return { prompt, input: { parameters: read.values, now: new Date().toISOString() }, limit }
}

/** Returns a copy as JSON, as the server would receive the parameters. The prompt cannot change the caller's values. */
function plain(parameters: Record<string, unknown>): Record<string, unknown> {
  try {
    return JSON.parse(JSON.stringify(parameters)) as Record<string, unknown>
  } catch (cause) {
    throw new ConfigurationError('The parameters cannot be written as JSON', { cause })
  }
}

function next(prompt: CompiledPrompt, input: StepInput, limit: number): RenderedStep {
  try {
    return renderStep(prompt, input, limit)
  } catch (error) {
    const cause = error instanceof CallerLimitError ? error.cause : error
    if (!(cause instanceof CompileIssueError)) throw error
    const { code, message, ...place } = cause.issue
    const where = `${place.path}:${place.line}:${place.column}`
    throw runFailure('chain_compile_error', `${where} ${message}`, { compileCode: code, ...place })
  }
}
