/** Numbers and encodes events, once for all readers: provider-events as ready frames, the others as pieces around messages. */
import type { Clock } from '../../../shared/clock.ts'
import type { LatitudeEvent, ProviderEvent, RunEvent } from '../events/run-event.ts'
import type { EventPiece, LogEntry } from '../ports.ts'
import type { MessageSlice, RunSource, StepResponse } from '../run.ts'
import { frameJson } from './frame-json.ts'
import { encodeMessage, isRange } from './message-list.ts'

export interface EventEncoder {
  encode(event: RunEvent): LogEntry
  /** The id of the event encoded last. */
  lastId(): number
}

export interface EncoderOptions {
  conversationUuid: string
  source: RunSource
  firstEventId: number
  clock: Clock
}

export function createEventEncoder(options: EncoderOptions): EventEncoder {
  const encodeProvider = createProviderEncoder()
  const tail = `],"providerLogUuid":"","source":${sourceJson(options.source)}`
  let lastId = options.firstEventId - 1

  return {
    lastId() {
      return lastId
    },
    encode(event) {
      lastId += 1
      if ('provider' in event) return { id: lastId, pieces: encodeProvider(event.provider, lastId) }
      return encodeLatitude(event.latitude, event.covers, lastId)
    },
  }

  function encodeLatitude(event: LatitudeEvent, covers: number, id: number): LogEntry {
    const head = `event: latitude-event\ndata: {"type":"${event.type}","timestamp":${options.clock.now().getTime()},"uuid":"${options.conversationUuid}","messages":[`
    const frame = (own: readonly EventPiece[]): EventPiece[] => [head, [0, covers], tail, ...own, `}\nid: ${id}\n\n`]
    const whole = ownPieces(event, options.conversationUuid, 'whole')
    const entry: LogEntry = { id, pieces: frame(whole) }
    if (hasStrangers(event)) entry.declaredPieces = frame(ownPieces(event, options.conversationUuid, 'declared'))
    if (event.type === 'tools-requested') entry.isUndeclaredOnly = true
    return entry
  }
}

function sourceJson(source: RunSource): string {
  return `{"documentUuid":"${source.documentUuid}","commitUuid":"${source.versionUuid}"}`
}

const providerHead = 'event: provider-event\ndata: '

// A delta's frame differs from the one before in two places only: the rest is made once for each part.
function createProviderEncoder(): (event: ProviderEvent, id: number) => LogEntry['pieces'] {
  let partId: string | undefined
  let prefix = ''
  return (event, id) => {
    if (event.type !== 'text-delta') return frameOf(providerHead, frameJson(event), `\nid: ${id}\n\n`)
    if (event.id !== partId) {
      partId = event.id
      prefix = `${providerHead}{"type":"text-delta","id":${frameJson(partId)},"textDelta":`
    }
    return frameOf(prefix, frameJson(event.textDelta), `}\nid: ${id}\n\n`)
  }
}

/** For larger texts, joining with the surrounding text copies more than it saves. */
const joinedCharacters = 65_536

function frameOf(head: string, json: string, tail: string): LogEntry['pieces'] {
  return json.length > joinedCharacters ? [head, json, tail] : head + json + tail
}

type Form = 'whole' | 'declared'

function ownPieces(event: LatitudeEvent, uuid: string, form: Form): EventPiece[] {
  const { type: _type, ...own } = event
  const { response, ...rest } = 'response' in own ? own : { ...own, response: undefined }
  const plain = frameJson(rest)
  const pieces: EventPiece[] = plain === '{}' ? [] : [`,${plain.slice(1, -1)}`]
  return response ? [...pieces, ',"response":', ...responsePieces(response, uuid, form)] : pieces
}

// Two events and two forms show the same response, and its text may be all of a large answer.
const heads = new WeakMap<StepResponse, string>()

function responseHead(response: StepResponse, uuid: string): string {
  const known = heads.get(response)
  if (known !== undefined) return known
  const { input: _input, output: _output, ...plain } = response
  const head = frameJson({ ...plain, documentLogUuid: uuid }).slice(0, -1)
  heads.set(response, head)
  return head
}

function responsePieces(response: StepResponse, uuid: string, form: Form): EventPiece[] {
  const { input, output } = response
  const head = responseHead(response, uuid)
  return [head, ',"input":[', ...slicePieces(input, form), '],"output":[', ...slicePieces(output, form), ']}']
}

function slicePieces(slice: MessageSlice, form: Form): EventPiece[] {
  return slice.flatMap((item, index) => {
    const piece: EventPiece = isRange(item) ? item : encodeMessage(item)[form]
    return index === 0 ? [piece] : [',', piece]
  })
}

// Messages that are not part of the conversation are in the text itself, once per form.
function hasStrangers(event: LatitudeEvent): boolean {
  if (!('response' in event)) return false
  return [...event.response.input, ...event.response.output].some((item) => !isRange(item))
}
