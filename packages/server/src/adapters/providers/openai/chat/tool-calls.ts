/** Assembles calls from fragments. Services disagree about the meaning of ids and indexes (ADR 71). */
import type { ModelChunk } from '../../../../features/providers/model-driver.ts'
import { type HeldCall, requireRoom } from '../../answer/content.ts'
import { uncarried, unreadable } from '../../answer/failure.ts'
import {
  argumentsIn,
  asCount,
  asObject,
  asText,
  holdsText,
  isObject,
  type Json,
  objectIn,
  parseArguments,
  UnknownForm,
} from '../../json.ts'

interface PartialCall {
  /** Undefined if the service does not number its calls. */
  index: number | undefined
  /** The provider's id. A second call with the same id has another one in the answer. */
  givenId: string
  id: string
  name: string
  rawArgs: string
  braces: Braces
  /** Gemini's signature of the thought that led to the call. */
  signature: string
  /** The number of the delta in which the call began. */
  delta: number
  /** The fragment that began the call. */
  first: Json
}

/**
 * Returns the calls or their fragments. Some services send one call in place of a list, or an empty object.
 * @param called a call of the older protocol.
 * @throws UnknownForm for any other value.
 */
export function callsIn(calls: unknown, called: unknown): readonly Json[] {
  const legacy = called ? objectIn(called) : undefined
  if (!calls) return legacy && Object.keys(legacy).length > 0 ? [{ function: legacy }] : []
  if (isObject(calls) && (calls['function'] || Object.keys(calls).length === 0)) return calls['function'] ? [calls] : []
  if (!Array.isArray(calls)) throw new UnknownForm()
  return calls.map((call: unknown) => objectIn(call)).filter((call) => call !== undefined)
}

/** Counts the open braces of arguments piece by piece. Parsing all arguments for each piece would cost their square. */
class Braces {
  #depth = 0
  #isQuoted = false
  #isEscaped = false

  get areOpen(): boolean {
    return this.#isQuoted || this.#depth > 0
  }

  add(piece: string): void {
    for (const char of piece) {
      if (this.#isEscaped) this.#isEscaped = false
      else if (char === '"') this.#isQuoted = !this.#isQuoted
      else if (this.#isQuoted) this.#isEscaped = char === '\\'
      else if (char === '{') this.#depth += 1
      else if (char === '}') this.#depth -= 1
    }
  }
}

export class CallParts {
  readonly #token: string
  #calls: PartialCall[] = []
  #deltas = 0

  constructor(token: string) {
    this.#token = token
  }

  /**
   * @param areWhole true if each fragment is a complete call.
   * @throws ProviderError `uncarried` for a call that is not a function call, `malformed` for a fragment that may belong
   * to several calls.
   */
  add(fragments: readonly Json[], areWhole: boolean, into: ModelChunk[]): void {
    this.#deltas += 1
    const isPositional = fragments.length > 1 && !areWhole && !fragments.every((each) => this.#isAssigned(each))
    const open = isPositional ? this.#calls.filter(isOpen) : []
    for (const [position, fragment] of fragments.entries()) {
      const { type, function: called } = fragment
      if (typeof type === 'string' && type !== 'function' && called === undefined) throw uncarried(`${type} tool call`)
      if (areWhole) this.#grow(this.#begin(fragment), fragment, into)
      else if (nameOf(fragment) !== '') this.#addNamed(fragment, into)
      // Two calls that are continued in one delta have the order in which they began.
      else this.#continue(fragment, open.length === fragments.length ? open[position] : undefined, into)
    }
  }

  /** Adds what the deltas have not brought of the complete calls at the end of a stream. */
  complete(fragments: readonly Json[], into: ModelChunk[]): void {
    if (this.#calls.length === 0) this.add(fragments, true, into)
    for (const [position, fragment] of fragments.entries()) {
      const call = this.#known(asText(fragment['id'])) ?? this.#calls[position]
      if (call?.rawArgs === '') this.#grow(call, fragment, into)
    }
  }

  /** Gemini may send the signature of its calls in a separate delta. The signature belongs to the first call. */
  sign(delta: Json): void {
    const [first, ...others] = this.#calls
    if (first?.signature === '' && others.every(({ signature }) => signature === '')) {
      first.signature = signatureOf(delta)
    }
  }

  /**
   * @param provider the provider key's name, stored with signatures.
   * @throws ProviderError `malformed` for arguments that belong to no call.
   */
  held(provider: string): HeldCall[] {
    return this.#calls.map(({ id, name, rawArgs, signature, first }) => {
      if (name === '') throw unreadable(JSON.stringify(first), this.#token)
      return { id, name, rawArgs, ...(signature !== '' && { seal: { signature, provider } }) }
    })
  }

  /** True if name, id or index say which call the fragment belongs to. */
  #isAssigned(fragment: Json): boolean {
    if (nameOf(fragment) !== '' || this.#known(asText(fragment['id']))) return true
    return this.#sameIndex(asCount(fragment['index'])).length === 1
  }

  #sameIndex(index: number | undefined): PartialCall[] {
    return index === undefined ? [] : this.#calls.filter((call) => call.index === index)
  }

  #known(id: string): PartialCall | undefined {
    return id === '' ? undefined : this.#calls.findLast((call) => call.givenId === id)
  }

  #withIndex(index: number | undefined): PartialCall | undefined {
    return index === undefined ? undefined : this.#calls.findLast((call) => call.index === index)
  }

  #addNamed(fragment: Json, into: ModelChunk[]): void {
    const call = this.#named(fragment)
    if (!call || call.name === '' || isOpen(call)) {
      this.#grow(call ?? this.#begin(fragment), fragment, into)
      return
    }
    // Some services repeat the head or the whole call, and some send `{}` before the arguments.
    call.signature ||= signatureOf(fragment)
    if (!isEmptyObject(call.rawArgs) || argumentsOf(fragment) === '') return
    call.rawArgs = argumentsOf(fragment)
    call.braces.add(call.rawArgs)
  }

  /** Returns the call that a fragment with a name continues. Any other fragment with a name begins a call. */
  #named(fragment: Json): PartialCall | undefined {
    const id = asText(fragment['id'])
    const index = asCount(fragment['index'])
    const known = this.#known(id) ?? this.#withIndex(index)
    if (known?.name === '') return known
    // Two names of one call may be its pieces, or two calls with one id.
    if (known?.rawArgs === '' && known.givenId === id && known.name !== nameOf(fragment)) throw new UnknownForm()
    if (known)
      return known.name === nameOf(fragment) && (isOpen(known) || isRepeat(known, fragment)) ? known : undefined
    const last = this.#calls.at(-1)
    if (!last || index !== undefined) return undefined
    if (last.name === '') return last
    return last.name === nameOf(fragment) && last.rawArgs !== '' && isOpen(last) ? last : undefined
  }

  /** Continues the call with the fragment's id, else with its index, else at its position, else the last open call. */
  #continue(fragment: Json, atPosition: PartialCall | undefined, into: ModelChunk[]): void {
    const sameIndex = this.#sameIndex(asCount(fragment['index']))
    const call = this.#known(asText(fragment['id'])) ?? (sameIndex.length === 1 ? sameIndex[0] : atPosition)
    const isEmpty = argumentsOf(fragment) === ''
    if (!call && isEmpty && (this.#calls.length > 0 || saysNothing(fragment))) return
    this.#grow(call ?? this.#waiting(fragment, sameIndex) ?? this.#begin(fragment), fragment, into)
  }

  /** Returns the call that waits for arguments. @throws ProviderError `malformed` if several may wait for these. */
  #waiting(fragment: Json, sameIndex: PartialCall[]): PartialCall | undefined {
    const open = (sameIndex.length > 0 ? sameIndex : this.#calls).filter(isOpen)
    const [last, other] = open.reverse()
    if (last && other && (sameIndex.length > 0 || last.delta === other.delta)) {
      throw unreadable(JSON.stringify(fragment), this.#token)
    }
    return last ?? sameIndex.at(-1)
  }

  #begin(fragment: Json): PartialCall {
    requireRoom(this.#calls.length)
    const givenId = asText(fragment['id'])
    const id = givenId === '' || this.#known(givenId) ? `call_${this.#calls.length}` : givenId
    const index = asCount(fragment['index'])
    const call = {
      index,
      givenId,
      id,
      name: '',
      rawArgs: '',
      braces: new Braces(),
      signature: '',
      delta: this.#deltas,
      first: fragment,
    }
    this.#calls.push(call)
    return call
  }

  #grow(call: PartialCall, fragment: Json, into: ModelChunk[]): void {
    call.signature ||= signatureOf(fragment)
    const name = nameOf(fragment)
    if (call.name === '' && name !== '') {
      call.name = name
      into.push({ type: 'tool-input-start', id: call.id, toolName: name })
      if (call.rawArgs !== '') into.push({ type: 'tool-input-delta', id: call.id, delta: call.rawArgs })
    }
    const delta = argumentsOf(fragment)
    if (delta === '') return
    call.rawArgs += delta
    call.braces.add(delta)
    if (call.name !== '') into.push({ type: 'tool-input-delta', id: call.id, delta })
  }
}

/** True for a fragment that repeats a complete call. The same id with other arguments is another call. */
function isRepeat({ givenId, rawArgs }: PartialCall, fragment: Json): boolean {
  const given = asText(fragment['id'])
  const args = argumentsOf(fragment).trim()
  return (given === '' || given === givenId) && (args === '' || args === rawArgs.trim() || isEmptyObject(rawArgs))
}

function isEmptyObject(rawArgs: string): boolean {
  return /^\s*\{\s*\}\s*$/.test(rawArgs)
}

/** True if the arguments are not complete. */
function isOpen({ rawArgs, braces }: PartialCall): boolean {
  return braces.areOpen || !rawArgs.trimEnd().endsWith('}') || parseArguments(rawArgs) === undefined
}

function nameOf(fragment: Json): string {
  return asText(asObject(fragment['function'])['name'])
}

function argumentsOf(fragment: Json): string {
  return argumentsIn(asObject(fragment['function']), 'arguments')
}

/** True for a fragment without an id, a name and arguments. Some services send one with every text. */
function saysNothing({ index: _index, type: _type, ...fragment }: Json): boolean {
  return !holdsText(fragment)
}

function signatureOf({ extra_content }: Json): string {
  return extra_content === undefined ? '' : asText(asObject(asObject(extra_content)['google'])['thought_signature'])
}
