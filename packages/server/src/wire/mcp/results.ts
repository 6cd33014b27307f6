/** Results and progress of tools, and the addresses of resources. */
import type { AddFrame, EventPiece } from '../../features/runs/ports.ts'
import { AppError, RunError } from '../../shared/app-error.ts'

type Structured = Record<string, unknown>

export interface ToolResult {
  content: { type: 'text'; text: string }[]
  structuredContent?: Structured
  isError?: true
  _meta?: Record<string, unknown>
  [key: string]: unknown
}

const maxTextBytes = 262_144

/** Above this size, a comparison reads no further. */
export const maxDiffBytes = maxTextBytes

/**
 * Shows the same value as text and as a structure. A larger one is only text, and is cut.
 * @param whole what has all of it, as the start of a sentence.
 */
export function structuredResult(value: Structured, whole?: string): ToolResult {
  const text = JSON.stringify(value)
  if (Buffer.byteLength(text) <= maxTextBytes) return { content: [{ type: 'text', text }], structuredContent: value }
  return { content: [{ type: 'text', text: cutText(text, whole) }] }
}

/** Room for the keys around the entries, and for the cursor. */
const listFrameBytes = 8_192

/** A value of an entry that alone has more is left out where the entry would fill a page. */
const longValueBytes = 4_096

export interface ListPage<Entry> {
  readonly entries: readonly Entry[]
  /** Returns false if the page has no more room. The first entry always has. */
  add(entry: Entry): boolean
}

/**
 * Collects the entries of a page. It ends before the size of a text result, so that its cursor is never cut off.
 * @param mark the keys to add to an entry that is too large for a page, and whose long values are left out
 */
export function listPage<Entry extends object>(mark: (omitted: string[]) => object): ListPage<Entry> {
  const entries: Entry[] = []
  let bytes = listFrameBytes
  return {
    entries,
    add(entry) {
      const size = bytesOf(entry)
      if (bytes + size <= maxTextBytes) entries.push(entry)
      else if (entries.length === 0) entries.push(shortened(entry, mark))
      else return false
      bytes += size
      return true
    },
  }
}

const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value) ?? '') + 1

function shortened<Entry extends object>(entry: Entry, mark: (omitted: string[]) => object): Entry {
  const isLong = ([, value]: [string, unknown]) => bytesOf(value) > longValueBytes
  const omitted = Object.entries(entry).filter(isLong)
  const kept = Object.entries(entry).filter((each) => !isLong(each))
  // An entry keeps its name, which is never long.
  return { ...Object.fromEntries(kept), ...mark(omitted.map(([key]) => key)) } as Entry
}

export function textResult(text: string, whole?: string): ToolResult {
  const isLong = Buffer.byteLength(text) > maxTextBytes
  return { content: [{ type: 'text', text: isLong ? cutText(text, whole) : text }] }
}

function cutText(text: string, whole: string | undefined): string {
  const bytes = Buffer.from(text).subarray(0, maxTextBytes)
  // Leaves out a character that the cut divides.
  const start = new TextDecoder().decode(bytes, { stream: true })
  const advice = whole === undefined ? 'Ask for less.' : `${whole} has all of it.`
  return `${start}\n[Cut at ${maxTextBytes / 1024} KB. ${advice}]`
}

/** A tool that ran and failed is a result, so that the model sees why. Details are JSON in a second text. */
export function failedResult(error: AppError | RunError): ToolResult {
  const { conversationUuid, ...details } = error.details
  const texts = [`${error.code}: ${error.message}`]
  if (Object.keys(details).length > 0) texts.push(JSON.stringify(details).slice(0, maxTextBytes))
  return {
    content: texts.map((text) => ({ type: 'text', text })),
    isError: true,
    ...(typeof conversationUuid === 'string' && { _meta: { 'stet/conversationUuid': conversationUuid } }),
  }
}

export function isForeseen(error: unknown): error is AppError | RunError {
  return error instanceof AppError || error instanceof RunError
}

export interface PromptResource {
  projectId: number
  versionRef: string
  path: string
}

/** @example promptUri({ projectId: 1, versionRef: 'live', path: 'support/reply' }) // 'stet://1/live/support/reply' */
export function promptUri({ projectId, versionRef, path }: PromptResource): string {
  return `stet://${projectId}/${versionRef}/${path.split('/').map(encodeURIComponent).join('/')}`
}

export function conversationUri(uuid: string): string {
  return `stet://conversations/${uuid}`
}

/** Returns undefined for an address of another form. */
export function readUri(uri: string): PromptResource | { conversationUuid: string } | undefined {
  const [, uuid] = /^stet:\/\/conversations\/([^/?#]+)$/.exec(uri) ?? []
  if (uuid !== undefined) return { conversationUuid: uuid }
  const [, project, versionRef, path] = /^stet:\/\/([1-9]\d{0,9})\/([^/?#]+)\/([^?#]+)$/.exec(uri) ?? []
  if (project === undefined || versionRef === undefined || path === undefined) return undefined
  try {
    return {
      projectId: Number(project),
      versionRef: decodeURIComponent(versionRef),
      path: path.split('/').map(decodeURIComponent).join('/'),
    }
  } catch {
    return undefined
  }
}

interface ShownEvent {
  type?: unknown
  config?: { provider?: unknown; model?: unknown }
  toolName?: unknown
}

/** The start of an event's frame, up to its type. Only these events say how far a run is. */
const shownFrame =
  /^event: (?:latitude|provider)-event\ndata: \{"type":"(step-started|provider-started|start-step|tool-call)"/

/**
 * Returns a function that reads the frames of a run and adds none. Calls `show` for each step, model call and tool.
 * @example 'model call 2: openai gpt-6-sol'
 */
export function progressMessages(show: (message: string) => void): AddFrame {
  const counts = { step: 0, 'model call': 0 }
  const next = (kind: keyof typeof counts) => {
    counts[kind] += 1
    return `${kind} ${counts[kind]}`
  }
  let model = ''
  return (_into, entry) => {
    if ('bytes' in entry) return
    const pieces = typeof entry.pieces === 'string' ? [entry.pieces] : entry.pieces
    const [, type] = shownFrame.exec(String(pieces[0])) ?? []
    if (type === 'step-started') show(next('step'))
    else if (type === 'start-step') show(next('model call') + model)
    else if (type !== undefined) {
      const { config = {}, toolName } = eventOf(pieces)
      if (type === 'tool-call') show(`tool ${String(toolName)}`)
      else model = `: ${[config.provider, config.model].filter((each) => typeof each === 'string').join(' ')}`
    }
  }
}

/** Leaves out the messages, which the pieces name by position. */
function eventOf(pieces: readonly EventPiece[]): ShownEvent {
  const text = pieces.filter((piece) => typeof piece === 'string').join('')
  return JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? '{}')
}
