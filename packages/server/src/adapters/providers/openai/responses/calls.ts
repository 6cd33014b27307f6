/** Assembles the calls of a response. Each event may be missing, and some services change the ids of an item. */
import { isDeepStrictEqual } from 'node:util'
import type { FinishReason, ModelChunk } from '../../../../features/providers/model-driver.ts'
import { endCalls, type HeldCall, requireRoom } from '../../answer/content.ts'
import { unreadable } from '../../answer/failure.ts'
import { argumentsIn, asCount, asText, holdsText, type Json, parseArguments, textIn, UnknownForm } from '../../json.ts'

interface PartialCall extends HeldCall {
  itemId: string
  index: number | undefined
  /** The part of the arguments that events have shown. */
  shownArgs: string
  isDone: boolean
  isAdded: boolean
  isCut: boolean
}

export class ResponseCalls {
  readonly #token: string
  readonly #calls: PartialCall[] = []

  constructor(token: string) {
    this.#token = token
  }

  get count(): number {
    return this.#calls.length
  }

  begin(frame: Json, item: Json, into: ModelChunk[]): void {
    const call = this.#find(frame, item) ?? this.#add(frame, item)
    this.#name(call, item, into)
    call.rawArgs ||= argumentsIn(item, 'arguments')
  }

  addArguments(frame: Json, into: ModelChunk[]): void {
    const call = this.#find(frame, {}) ?? this.#add(frame, {})
    const delta = deltaIn(frame)
    call.rawArgs += delta
    this.#show(call, into)
  }

  /** Takes the complete arguments. Empty ones do not replace those that have arrived. */
  endArguments(frame: Json, into: ModelChunk[]): void {
    const call = this.#find(frame, {}) ?? this.#add(frame, {})
    call.rawArgs = argumentsIn(frame, 'arguments') || call.rawArgs
    this.#show(call, into)
  }

  /** @param frame the event of the item, or its place in the complete response. */
  end(frame: Json, item: Json, into: ModelChunk[]): void {
    const call = this.#find(frame, item) ?? this.#add(frame, item)
    this.#name(call, item, into)
    const id = asText(item['call_id'])
    if (id !== '' && !call.isDone) call.id = id
    const rawArgs = argumentsIn(item, 'arguments')
    call.isCut = item['status'] === 'incomplete'
    if (call.isDone && isAnother(call.rawArgs, rawArgs)) throw new UnknownForm()
    call.rawArgs = rawArgs || call.rawArgs
    call.isDone = true
    this.#show(call, into)
  }

  /** Adds the complete calls before a reasoning item, because later calls must send items in their order. */
  addDone(into: ModelChunk[]): void {
    const done = this.#calls.filter(({ isDone, isAdded }) => isDone && !isAdded)
    endCalls(done, 'stop', into)
    for (const call of done) call.isAdded = true
  }

  /** @throws ProviderError `malformed` for arguments that belong to no call. */
  addAll(finishReason: FinishReason, into: ModelChunk[]): FinishReason {
    for (const { name, itemId, rawArgs } of this.#calls) {
      if (name === '') throw unreadable(JSON.stringify({ item_id: itemId, arguments: rawArgs }), this.#token)
    }
    const rest = this.#calls.filter(({ isAdded }) => !isAdded)
    const isCut = finishReason === 'stop' && rest.some((call) => call.isCut)
    const found = endCalls(rest, isCut ? 'other' : finishReason, into)
    return found === 'stop' && this.#calls.length > 0 ? 'tool-calls' : found
  }

  #find(frame: Json, item: Json): PartialCall | undefined {
    const id = asText(item['id']) || asText(frame['item_id'])
    const callId = asText(item['call_id'])
    const index = asCount(frame['output_index'])
    return (
      this.#calls.findLast((call) => callId !== '' && call.id === callId) ??
      this.#calls.findLast((call) => index !== undefined && call.index === index) ??
      this.#calls.findLast((call) => id !== '' && call.itemId === id) ??
      // Without an index, an event with an unknown id continues the call that is not complete.
      (index === undefined && callId === '' ? this.#calls.findLast(({ isDone }) => !isDone) : undefined)
    )
  }

  #add(frame: Json, item: Json): PartialCall {
    requireRoom(this.count)
    const itemId = asText(item['id']) || asText(frame['item_id'])
    const call = {
      itemId,
      index: asCount(frame['output_index']),
      id: asText(item['call_id']) || itemId || `call_${this.count}`,
      name: '',
      rawArgs: '',
      shownArgs: '',
      isDone: false,
      isAdded: false,
      isCut: false,
    }
    this.#calls.push(call)
    return call
  }

  #name(call: PartialCall, item: Json, into: ModelChunk[]): void {
    const name = textIn(item['name'])
    if (call.name !== '' || name === '') return
    call.name = name
    // The id of an unnamed call has not been shown.
    call.id = asText(item['call_id']) || call.id
    into.push({ type: 'tool-input-start', id: call.id, toolName: name })
  }

  #show(call: PartialCall, into: ModelChunk[]): void {
    const { id, name, rawArgs, shownArgs } = call
    if (name === '' || rawArgs.length <= shownArgs.length || !rawArgs.startsWith(shownArgs)) return
    into.push({ type: 'tool-input-delta', id, delta: rawArgs.slice(shownArgs.length) })
    call.shownArgs = rawArgs
  }
}

/** True if a complete call has come again with other arguments. The results of both would have the same id. */
function isAnother(known: string, given: string): boolean {
  if (known === given || known === '' || given === '') return false
  return !isDeepStrictEqual(parseArguments(known), parseArguments(given))
}

/** @throws UnknownForm for a delta that is not text, or that has text under another name. */
export function deltaIn({ delta, text, content, arguments: args }: Json): string {
  if (delta === undefined && holdsText([text, content, args])) throw new UnknownForm()
  return textIn(delta)
}
