/** Assembles calls from fragments. Services disagree about the meaning of ids and indexes (ADR 71). */
import type { ModelChunk } from '../../../../features/providers/model-driver.ts'
import { type HeldCall, requireRoom } from '../../answer/calls.ts'
import { uncarried, unreadable } from '../../answer/failure.ts'
import { asCount, asList, asObject, asText, type Json, parseArguments } from '../../json.ts'

interface PartialCall {
  /** Undefined if the service does not number its calls. */
  index: number | undefined
  id: string
  name: string
  rawArgs: string
  /** Gemini's signature of the thought that led to the call. */
  signature: string
  /** The number of the delta in which the call began. */
  delta: number
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
  add(fragments: unknown, areWhole: boolean, into: ModelChunk[]): void {
    const list = asList(fragments).map(asObject)
    this.#deltas += 1
    const open = list.length > 1 && !areWhole ? this.#calls.filter(isOpen) : []
    for (const [position, fragment] of list.entries()) {
      const { type, function: called } = fragment
      if (typeof type === 'string' && type !== 'function' && called === undefined) throw uncarried(`${type} tool call`)
      if (areWhole) this.#grow(this.#begin(fragment), fragment, into)
      else if (nameOf(fragment) !== '') this.#addNamed(fragment, into)
      // Two calls that are continued in one delta have the order in which they began.
      else this.#continue(fragment, open.length === list.length ? open[position] : undefined, into)
    }
  }

  /** Adds what the deltas have not brought of the complete calls at the end of a stream. */
  complete(fragments: unknown, into: ModelChunk[]): void {
    if (this.#calls.length === 0) this.add(fragments, true, into)
    for (const [position, fragment] of asList(fragments).map(asObject).entries()) {
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
    return this.#calls.map(({ id, name, rawArgs, signature }) => {
      if (name === '') throw unreadable(JSON.stringify({ id, arguments: rawArgs }), this.#token)
      return { id, name, rawArgs, ...(signature !== '' && { seal: { signature, provider } }) }
    })
  }

  #known(id: string): PartialCall | undefined {
    return id === '' ? undefined : this.#calls.findLast((call) => call.id === id)
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
    if (isEmptyObject(call.rawArgs)) call.rawArgs = argumentsOf(fragment) || call.rawArgs
  }

  /** Returns the call that a fragment with a name continues. Any other fragment with a name begins a call. */
  #named(fragment: Json): PartialCall | undefined {
    const id = asText(fragment['id'])
    const index = asCount(fragment['index'])
    const known = this.#known(id) ?? this.#withIndex(index)
    if (known?.name === '') return known
    if (known)
      return known.name === nameOf(fragment) && (isOpen(known) || isRepeat(known, fragment)) ? known : undefined
    const last = this.#calls.at(-1)
    if (!last || index !== undefined) return undefined
    if (last.name === '') return last
    return last.name === nameOf(fragment) && last.rawArgs !== '' && isOpen(last) ? last : undefined
  }

  /** Continues the call with the fragment's id, else with its index, else at its position, else the last open call. */
  #continue(fragment: Json, atPosition: PartialCall | undefined, into: ModelChunk[]): void {
    const index = asCount(fragment['index'])
    const sameIndex = index === undefined ? [] : this.#calls.filter((call) => call.index === index)
    const call = this.#known(asText(fragment['id'])) ?? (sameIndex.length === 1 ? sameIndex[0] : atPosition)
    if (!call && argumentsOf(fragment) === '' && this.#calls.length > 0) return
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
    const id = asText(fragment['id']) || `call_${this.#calls.length}`
    const index = asCount(fragment['index'])
    const call = { index, id, name: '', rawArgs: '', signature: '', delta: this.#deltas }
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
    if (call.name !== '') into.push({ type: 'tool-input-delta', id: call.id, delta })
  }
}

/** True for a fragment that repeats a complete call. The same id with other arguments is another call. */
function isRepeat({ id, rawArgs }: PartialCall, fragment: Json): boolean {
  const given = asText(fragment['id'])
  const args = argumentsOf(fragment).trim()
  return (given === '' || given === id) && (args === '' || args === rawArgs.trim() || isEmptyObject(rawArgs))
}

function isEmptyObject(rawArgs: string): boolean {
  return /^\s*\{\s*\}\s*$/.test(rawArgs)
}

/** True if the arguments are not complete. */
function isOpen({ rawArgs }: PartialCall): boolean {
  return !rawArgs.trimEnd().endsWith('}') || parseArguments(rawArgs) === undefined
}

function nameOf(fragment: Json): string {
  return asText(asObject(fragment['function'])['name'])
}

/** Some services send the arguments as an object. */
function argumentsOf(fragment: Json): string {
  const { arguments: given } = asObject(fragment['function'])
  return typeof given === 'object' && given !== null ? JSON.stringify(given) : asText(given)
}

function signatureOf({ extra_content }: Json): string {
  return extra_content === undefined ? '' : asText(asObject(asObject(extra_content)['google'])['thought_signature'])
}
