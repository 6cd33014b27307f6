import {
  type CompileIssue,
  CompileIssueError,
  compilePrompt,
  type PromptSource,
  type RenderedMessage,
  type RenderedStep,
  renderStep,
  scan,
} from '../src/index.ts'

export const now = '2026-01-02T03:04:05.000Z'

export function sourceOf(content: string, documents: Record<string, string> = {}): PromptSource {
  return { path: 'folder/prompt', content, documents }
}

type Parameters = Record<string, unknown>

export async function messagesOf(
  content: string,
  parameters: Parameters = {},
  documents = {},
): Promise<RenderedMessage[]> {
  const step = await renderStep(await compilePrompt(sourceOf(content, documents)), { parameters, now })
  return step.done ? [] : step.input
}

export async function textOf(content: string, parameters: Parameters = {}, documents = {}): Promise<string> {
  const messages = await messagesOf(content, parameters, documents)
  return messages.flatMap((message) => message.content.map((part) => String(part['text']))).join('|')
}

export async function renderIssue(content: string, parameters: Parameters = {}, documents = {}): Promise<CompileIssue> {
  try {
    await messagesOf(content, parameters, documents)
  } catch (error) {
    if (error instanceof CompileIssueError) return error.issue
    throw error
  }
  throw new Error('It renders')
}

export async function firstIssue(content: string, documents = {}): Promise<CompileIssue | undefined> {
  return (await scan(sourceOf(content, documents))).errors[0]
}

/** Runs a whole chain. Each answer is serialized to JSON, as between processes. */
export async function chainOf(
  content: string,
  answers: readonly (string | RenderedMessage[])[],
  parameters: Parameters = {},
): Promise<RenderedStep[]> {
  const prompt = await compilePrompt(sourceOf(content))
  const steps: RenderedStep[] = [await renderStep(prompt, { parameters, now })]
  for (const answer of answers) {
    const last = steps.at(-1)
    if (!last || last.done) break
    const state = JSON.parse(JSON.stringify(last.state)) as typeof last.state
    steps.push(await renderStep(prompt, { parameters, now, state, answer: asMessages(answer) }))
  }
  return steps
}

function asMessages(answer: string | RenderedMessage[]): RenderedMessage[] {
  return typeof answer === 'string' ? [{ role: 'assistant', content: [{ type: 'text', text: answer }] }] : answer
}

export function inputTexts(step: RenderedStep | undefined): string[] {
  if (!step || step.done) return []
  return step.input.flatMap((message) => message.content.map((part) => String(part['text'])))
}

/** The lowest of several readings, because other processes disturb a reading. */
export function leastCpuMs(runs: number, work: () => unknown): number {
  const readings = Array.from({ length: runs }, () => {
    const before = process.cpuUsage()
    work()
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1000
  })
  return Math.min(...readings)
}
