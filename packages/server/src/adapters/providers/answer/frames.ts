/**
 * Reads the frames of an answer. Nothing that the reader does not understand counts as an answer: it ends the call with
 * the provider's own words, unless the rest is complete (ADR 71).
 */
import type { CountedUsage, ModelChunk } from '../../../features/providers/model-driver.ts'
import type { ProviderError } from '../../../features/providers/provider-error.ts'
import { isObject, type Json, parseAnswer, UnknownForm } from '../json.ts'
import { brokenInTheMiddle, brokenOff, errorIn, frameError, strayError, unreadable } from './failure.ts'

/** Reads the answers of one protocol. The state belongs to one answer. */
export interface AnswerReader {
  /** The secret to remove from the provider's words. */
  readonly token: string
  /** True at the protocol's end of an answer. Later frames are ignored. */
  readonly isDone: boolean
  /** True if the service has named the finish reason and no content has followed. Only counts may still arrive. */
  readonly isEnding: boolean
  /**
   * False if the finish reason came beside or before content. A service may send it with every frame, so the wait is
   * longer.
   */
  readonly isEndCertain?: boolean
  /** True once text, reasoning, a file or a call has arrived. */
  readonly hasContent: boolean
  /**
   * @param type the event's name, for a frame without a type.
   * @returns false for a frame that is no part of an answer.
   * @throws ProviderError for an error, or content that stet cannot represent.
   */
  readFrame(frame: Json, into: ModelChunk[], type: string | undefined): boolean
  /** Reads a complete answer. Otherwise as `readFrame`. */
  readPlain(answer: Json, into: ModelChunk[]): boolean
  /** Reads the mark `[DONE]`. */
  readEndMark(): void
  /**
   * Adds the last chunks.
   * @throws ProviderError `malformed` for an incomplete answer, `uncarried` for content that stet cannot represent.
   */
  finish(into: ModelChunk[]): void
  /** Returns what the service has counted so far. */
  counted(): CountedUsage | undefined
}

function isPing(name: unknown): boolean {
  return typeof name === 'string' && /^\W*(ping|keep-?alive|heartbeat|processing)\W*$/i.test(name)
}

export class Frames {
  readonly #reader: AnswerReader
  /** The last data, and the first that the reader did not understand. */
  #last = ''
  #strange = ''

  constructor(reader: AnswerReader) {
    this.#reader = reader
  }

  /** @throws ProviderError for a failure, and for data that begins like JSON but is not. */
  read(data: string, event: string | undefined, into: ModelChunk[]): void {
    const reader = this.#reader
    if (reader.isDone) return
    if (event === 'error') throw failureOf(data, reader.token)
    const frame = this.#frameOf(data, event, into)
    if (!frame) return
    this.#last = data
    if (frame['error'] || frame['base_resp']) this.#assertNoError(frame)
    try {
      if (reader.readFrame(frame, into, event) || isPing(event) || isPing(frame['type'])) return
    } catch (error) {
      throw this.#inWords(error, data)
    }
    this.#reject(frame)
    if (Object.keys(frame).length > 0) this.#strange ||= data
  }

  /** Reads a body that is one JSON object, or one frame a line. */
  readBody(body: string, into: ModelChunk[]): void {
    const reader = this.#reader
    const answer = parseAnswer(body)
    if (!answer) {
      this.#readLines(body, into)
      return
    }
    this.#last = body
    if (answer['error'] || answer['base_resp']) this.#assertNoError(answer)
    try {
      if (reader.readPlain(answer, into)) return
    } catch (error) {
      throw this.#inWords(error, body)
    }
    this.#reject(answer)
    throw unreadable(body, reader.token)
  }

  /** @param bare the lines of a stream that belong to no event. @throws ProviderError unless the answer is complete. */
  finish(bare: string, into: ModelChunk[]): void {
    const reader = this.#reader
    const isBare = bare !== '' && !reader.hasContent && !reader.isEnding && !reader.isDone
    if (isBare) this.readBody(bare.trim(), into)
    const words = this.#strange || (isBare ? '' : bare.trim())
    if (!reader.hasContent && !(reader.isEnding && words === '')) {
      const said = words || this.#last
      throw said === '' ? brokenInTheMiddle() : unreadable(said, reader.token)
    }
    if (!reader.isEnding && (!reader.isDone || words !== '')) throw brokenInTheMiddle(words, reader.token)
    reader.finish(into)
  }

  #readLines(body: string, into: ModelChunk[]): void {
    const lines = frameLines(body)
    if (lines.length < 2 || !lines.every(isFrame)) throw unreadable(body, this.#reader.token)
    for (const line of lines) this.read(line, undefined, into)
  }

  /** Returns undefined for the end mark, for blanks, and for other text, which is noted unless it is a ping. */
  #frameOf(data: string, event: string | undefined, into: ModelChunk[]): Json | undefined {
    // The mark is tested first, because parsing it would cost as much as ten frames.
    const isMark = data.length < 20 && data.trim() === '[DONE]'
    const frame = isMark ? undefined : parseAnswer(data)
    if (frame) return frame
    const text = data.trim()
    if (isMark) {
      this.#last = text
      this.#reader.readEndMark()
    } else if (text.includes('\n') && frameLines(text).every(isFrame)) {
      // Without blank lines between them, the frames of several events arrive as one.
      for (const line of frameLines(text)) this.read(line, event, into)
    } else if (/^[{["]/.test(text)) throw unreadable(data, this.#reader.token)
    else if (text !== '' && !isPing(text) && !isPing(event)) this.#strange ||= text
    return undefined
  }

  #assertNoError(frame: Json): void {
    const error = errorIn(frame)
    if (error !== undefined) throw frameError(error, this.#reader.token, frame)
  }

  #reject(frame: Json): void {
    const error = strayError(frame)
    if (error) throw frameError(error, this.#reader.token)
  }

  #inWords(error: unknown, words: string): unknown {
    return error instanceof UnknownForm ? unreadable(words, this.#reader.token) : error
  }
}

function frameLines(text: string): string[] {
  return text.split('\n').filter((line) => line.trim() !== '')
}

function isFrame(line: string): boolean {
  return line.trim() === '[DONE]' || parseAnswer(line) !== undefined
}

/** Converts the data of an error event, which may be text. */
export function failureOf(data: string, token: string): ProviderError {
  const frame = parseAnswer(data)
  if (!frame) return brokenOff(undefined, data, token)
  const { error } = frame
  return frameError(isObject(error) || typeof error === 'string' ? error : frame, token, frame)
}
