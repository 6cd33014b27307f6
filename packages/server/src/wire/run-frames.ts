/** Encodes a run's events as event stream frames, once for all readers. Pieces refer to messages by position. */
import type { Message, RunFailure } from '@stet/contract/vocabulary'
import type { EventPiece, LogEntry, StoredFrames } from '../features/runs/ports.ts'
import type {
  EncodedResponse,
  MessageSlice,
  ProviderEvent,
  RunEvent,
  RunSource,
  StepResponse,
} from '../features/runs/run.ts'
import type { RunError } from '../shared/app-error.ts'
import { storableJson } from '../shared/text-guards.ts'

/** Some clients treat these characters as line breaks, besides CR and LF. JSON may contain them raw or escaped. */
const lineEnds = /[\u0085\u2028\u2029]/
const allLineEnds = new RegExp(lineEnds, 'g')

/** Escapes characters that could end a line. Runs once when the JSON is created, not once per reader. */
export function inOneLine(json: string): string {
  if (!lineEnds.test(json)) return json
  return json.replace(allLineEnds, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

export function encodeMessage(message: Message): string {
  return inOneLine(storableJson(message))
}

export function encodeResponse(response: StepResponse, conversationUuid: string): EncodedResponse {
  const { input, output, ...plain } = response
  const head = inOneLine(JSON.stringify({ ...plain, documentLogUuid: conversationUuid })).slice(0, -1)
  return { response, head }
}

/** For larger texts, joining with the surrounding text copies more than it saves. */
const joinedCharacters = 65_536

export function encodeEvent(event: RunEvent, id: number, at: Date, run: RunSource & { uuid: string }): LogEntry {
  if ('provider' in event) return { id, pieces: providerFrame(event.provider, id) }
  const { latitude, covers } = event
  const { type, ...own } = latitude
  const { response, ...rest } = 'response' in own ? own : { ...own, response: undefined }
  const shown = 'error' in rest ? { ...rest, error: failureBody(rest.error) } : rest
  const plain = inOneLine(JSON.stringify(shown))
  const head = [
    `event: latitude-event\ndata: {"type":"${type}","timestamp":${at.getTime()},"uuid":"${run.uuid}","messages":[`,
    [0, covers],
    `],"providerLogUuid":"","source":{"documentUuid":"${run.documentUuid}","commitUuid":"${run.versionUuid}"}${plain === '{}' ? '' : `,${plain.slice(1, -1)}`}`,
  ] as const
  const end = `}\nid: ${id}\n\n`
  return { id, pieces: [...head, ...(response ? responsePieces(response) : []), end] }
}

function failureBody({ code, message, details }: Pick<RunError, 'code' | 'message' | 'details'>): RunFailure {
  return { name: 'DocumentRunError', message, errorCode: code, code, details: { ...details, errorCode: code } }
}

function providerFrame(event: ProviderEvent, id: number): LogEntry['pieces'] {
  const json = inOneLine(JSON.stringify(event))
  const head = 'event: provider-event\ndata: '
  const end = `\nid: ${id}\n\n`
  return json.length > joinedCharacters ? [head, json, end] : head + json + end
}

function responsePieces({ response, head }: EncodedResponse): EventPiece[] {
  const pieces: EventPiece[] = [',"response":', head, ',"input":[']
  addSlice(pieces, response.input)
  pieces.push('],"output":[')
  addSlice(pieces, response.output)
  pieces.push(']}')
  return pieces
}

function addSlice(pieces: EventPiece[], slice: MessageSlice): void {
  for (const [place, item] of slice.entries()) {
    if (place > 0) pieces.push(',')
    pieces.push('role' in item ? encodeMessage(item) : item)
  }
}

export function bytesOf({ pieces }: LogEntry): number {
  if (typeof pieces === 'string') return Buffer.byteLength(pieces)
  let bytes = 0
  for (const piece of pieces) if (typeof piece === 'string') bytes += Buffer.byteLength(piece)
  return bytes
}

/** Adds pieces that all readers share, so that a long conversation is not joined for each reader. */
export function addFrame(into: (string | Buffer)[], entry: LogEntry | StoredFrames, messages: readonly string[]): void {
  if ('bytes' in entry) return void into.push(entry.bytes)
  if (typeof entry.pieces === 'string') return void into.push(entry.pieces)
  for (const piece of entry.pieces) {
    if (typeof piece === 'string') {
      into.push(piece)
      continue
    }
    const [from, to] = piece
    for (let place = from; place < to; place += 1) {
      if (place > from) into.push(',')
      into.push(messages[place] ?? '')
    }
  }
}
