import { defined } from '@stet/template/defined'
import type { CountedUsage, FinishReason, ModelChunk, PartSeal } from '../../../features/providers/model-driver.ts'
import { ProviderError } from '../../../features/providers/provider-error.ts'
import { type TokenCounts, usageOf } from '../../../features/providers/usage.ts'
import { storableText } from '../../../shared/text-guards.ts'
import { asCount, asObject, isObject, type Json, parseArguments } from '../json.ts'
import { keys } from '../request/body.ts'
import { addressOf, mediaOf } from '../request/messages.ts'
import { brokenInTheMiddle, lostCall } from './failure.ts'

export interface PiecedText {
  /** The high surrogate that ended the last piece, or an empty string. */
  held: string
}

// Matches NUL and lone surrogates. With the `u` flag, a surrogate pair counts as one character.
const unstorable = /[\0\p{Surrogate}]/u

/**
 * Returns the text without a final high surrogate, which waits for the next piece. Replaces NUL and lone surrogates,
 * which PostgreSQL cannot store.
 */
export function addPiece(text: PiecedText, piece: string): string {
  if (text.held === '' && !unstorable.test(piece)) return piece
  const whole = text.held + piece
  const last = whole.charCodeAt(whole.length - 1)
  text.held = last >= 0xd800 && last <= 0xdbff ? whole.slice(-1) : ''
  return storableText(whole.slice(0, whole.length - text.held.length))
}

export function endPieces(text: PiecedText): string {
  const rest = storableText(text.held)
  text.held = ''
  return rest
}

export function addText(text: string, into: ModelChunk[]): void {
  if (text !== '') into.push({ type: 'text-delta', text })
}

/** Adds citations with a URL. Other citations refer to the caller's own documents and are ignored. */
export function addSource(citation: unknown, into: ModelChunk[]): void {
  const { url, title } = asObject(typeof citation === 'string' ? { url: citation } : citation)
  if (typeof url === 'string') into.push({ type: 'source', payload: { sourceType: 'url', url, title } })
}

/** @param content a URL, a data URL or base64. A base64 data URL is kept unchanged, because the text may be long. */
export function generatedImage(content: string, mimeType?: string): ModelChunk {
  const media = mediaOf({ type: 'image', image: content, ...defined({ mimeType }) })
  const url = /^data:[^,]*;base64,/i.test(content) ? content : addressOf(media)
  return { type: 'file', url, mimeType: media.mimeType }
}

/** @param counts totals. `input` includes cache reads and writes, and `output` includes reasoning. */
export function countedUsage(
  counts: TokenCounts & { cacheWrite?: number | undefined },
  servedModel: string,
): CountedUsage {
  const { cacheWrite = 0 } = counts
  return {
    usage: usageOf(counts),
    ...(cacheWrite > 0 && { cacheWriteTokens: cacheWrite }),
    ...(servedModel !== '' && { servedModel }),
  }
}

/** Merges counts. Services repeat them with growing numbers, and some send `null`, 0 or nothing later. */
export function mergeCounts(counts: Json, later: unknown): void {
  for (const [key, value] of Object.entries(asObject(later))) {
    const count = asCount(value)
    if (isObject(value)) {
      counts[key] ??= Object.create(null)
      mergeCounts(asObject(counts[key]), value)
    } else if (count !== undefined && (count > 0 || !(key in counts))) counts[key] = count
  }
}

/** A call of a tool, held until the end of the answer. */
export interface HeldCall {
  id: string
  name: string
  rawArgs: string
  seal?: PartSeal
}

const mostCalls = 1_000

/** Searching among calls costs the square of their number. @throws ProviderError `malformed` for too many calls. */
export function requireRoom(calls: number): void {
  if (calls >= mostCalls)
    throw new ProviderError('malformed', `The provider called more than ${mostCalls} tools at once`)
}

/** Types of content under which other protocols send calls. An answer without them would lack a call. */
export const foreignCalls = keys('tool_use tool_call tool_calls function_call')

const complete: readonly FinishReason[] = ['stop', 'tool-calls', 'unknown']

/**
 * Returns the finish reason of an answer without the calls that its reason announces. A call may be lost: Anthropic's
 * API has sent such answers (anthropics/claude-code#40240), and vLLM sends them if no call could be parsed
 * (vllm-project/vllm#53255). If the request offered no tools, no call can be lost, and the text is the answer: LocalAI
 * sends this reason with plain texts (mudler/LocalAI#6218).
 * @param isLost true if the request offered tools, or if the answer is empty.
 * @param said the finish reason and the text, as the provider sent them.
 * @throws ProviderError `malformed` for a lost call.
 */
export function reasonWithoutCalls(isLost: boolean, said: Json, token: string): FinishReason {
  if (isLost) throw lostCall(JSON.stringify(said), token)
  return 'stop'
}

/**
 * Adds the calls of an answer. If the answer was cut off inside a call, it adds none, because calls of one answer
 * belong together.
 * @returns the finish reason. Several services report `stop` although the model called tools.
 * @throws ProviderError `malformed` for half a call in an answer without a finish reason.
 */
export function endCalls(calls: readonly HeldCall[], finishReason: FinishReason, into: ModelChunk[]): FinishReason {
  if (calls.length === 0) return finishReason
  const parsed = calls.map((call) => ({ ...call, args: parseArguments(call.rawArgs) }))
  const isHalf = ({ args, rawArgs }: (typeof parsed)[number]) => args === undefined || rawArgs.trim() === ''
  if (finishReason === 'unknown' && parsed.some(isHalf)) throw brokenInTheMiddle()
  const isCut = !complete.includes(finishReason)
  // A call without arguments may be one whose arguments are missing.
  if (isCut && parsed.some(({ args = {} }) => Object.keys(args).length === 0)) return finishReason
  for (const { id, name: toolName, args, rawArgs, seal } of parsed) {
    into.push({ type: 'tool-call', id, toolName, args, rawArgs, ...(seal && { seal }) })
  }
  return isCut ? finishReason : 'tool-calls'
}
