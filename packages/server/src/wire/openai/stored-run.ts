/** What this door shows of a stored run, also after its event log was dropped, and what it stores of a request. */
import type { Message } from '@stet/contract/vocabulary'
import { readConfig } from '@stet/template/config'
import type { StoredConversation } from '../../features/runs/ports.ts'
import { resolveSlice } from '../../features/runs/run.ts'
import type { KeptRequest } from './request.ts'
import type { DoorRun } from './responses.ts'
import { type DoorEnd, isWhole, itemsOf, type PlacedItem } from './shown-items.ts'

type Kept = Pick<DoorRun, 'hasSteps' | 'request'>

/** The names of the caller's tools are kept also where their definitions are too large. */
interface KeptRow extends Kept {
  toolNames: readonly string[]
}

const maxKeptBytes = 65_536

/** Returns the text of `run.request`. Leaves out the tools if it would be too large. */
export function keptText({ hasSteps, request }: Kept): string {
  const toolNames = request.tools.map(({ name }) => String(name))
  const textOf = (kept: KeptRequest) => JSON.stringify({ hasSteps, request: kept, toolNames } satisfies KeptRow)
  const text = textOf(request)
  if (Buffer.byteLength(text) <= maxKeptBytes) return text
  const withoutTools = textOf({ ...request, tools: [] })
  if (Buffer.byteLength(withoutTools) <= maxKeptBytes) return withoutTools
  // A long schema or long instructions. Both are in the conversation too.
  const short: KeptRequest = { ...request, tools: [], text: { format: { type: 'text' } }, instructions: null }
  return textOf(short)
}

/** What a response shows of its request is what is kept, so that later reads are equal to the first answer. */
export const readKept = (text: string): KeptRow => JSON.parse(text) as KeptRow

export interface StoredEnd {
  end: DoorEnd
  output: PlacedItem[]
}

/**
 * @param conversation as the run left it
 * @returns `queued` or `in_progress` before the end
 */
export function storedEnd(
  conversation: StoredConversation,
  toolNames: readonly string[],
): StoredEnd | 'queued' | 'in_progress' {
  const { latestRun: run } = conversation
  if (run?.status === 'queued') return 'queued'
  if (!run?.result) return 'in_progress'
  const { response, error, toolRequests, tokenUsage, cost } = run.result
  const end: DoorEnd = {
    // A failed run has none, even if an earlier model call had.
    finishReason: (error ? undefined : response?.finishReason) ?? 'unknown',
    model: (error ? undefined : response?.model) ?? null,
    ...{ tokenUsage, cost },
    error: error && { code: error.code, message: error.message },
    endedAt: (run.endedAt ?? conversation.updatedAt).getTime(),
  }
  const { messages } = conversation
  const output = error || !response ? addedBy(run, messages) : resolveSlice(response.output, messages)
  const requested = new Set(toolRequests.map(({ id }) => id))
  const isShown = error ? openCalls(conversation, toolNames, output) : (id: string) => requested.has(id)
  return { end, output: itemsOf(output, isShown, isWhole(end)) }
}

/** The messages that a failed run added: answers and tool results after the last message that was given. */
function addedBy(
  { givenFrom, givenCount }: NonNullable<StoredConversation['latestRun']>,
  messages: readonly Message[],
): Message[] {
  const given = givenFrom === null ? 0 : givenFrom + (givenCount ?? 0)
  const lastAsked = messages.findLastIndex(({ role }) => role !== 'assistant' && role !== 'tool')
  return messages.slice(Math.max(given, lastAsked + 1))
}

/** A failed run has no tool requests. Its stream has shown the valid calls of the caller's tools. */
function openCalls({ config }: StoredConversation, toolNames: readonly string[], output: readonly Message[]) {
  const own = readConfig(config, () => undefined).tools.map(({ name }) => name)
  const names = new Set([...own, ...toolNames])
  const answered = new Set(
    output.flatMap(({ content }) => content.flatMap((part) => (part.type === 'tool-result' ? [part.toolCallId] : []))),
  )
  return (id: string, name: string) => names.has(name) && !answered.has(id)
}
