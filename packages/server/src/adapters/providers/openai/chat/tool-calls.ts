import type { ModelChunk } from '../../../../features/providers/model-driver.ts'
import { uncarried } from '../../answer/failure.ts'
import { asList, asNumber, asObject, asText, type Json, parseArguments } from '../../json.ts'

export interface PartialCall {
  /** Undefined if the service does not number its calls. */
  index: number | undefined
  id: string
  name: string
  rawArgs: string
  /** Gemini's signature of the thought that led to the call. */
  signature: string
}

/**
 * @param areWhole true if each fragment is a complete call.
 * @throws ProviderError `uncarried` for a call that is not a function call.
 */
export function addCalls(calls: PartialCall[], fragments: unknown, areWhole: boolean, into: ModelChunk[]): void {
  for (const fragment of asList(fragments).map(asObject)) {
    const { type, function: called } = fragment
    if (typeof type === 'string' && type !== 'function' && called === undefined) throw uncarried(`${type} tool call`)
    const call = (areWhole ? undefined : openCall(calls, fragment)) ?? begun(calls, fragment)
    grow(call, fragment, into)
  }
}

/** Gemini may send the signature of its calls in a separate delta. The signature belongs to the first call. */
export function signCalls([first, ...others]: readonly PartialCall[], delta: Json): void {
  if (first?.signature === '' && others.every(({ signature }) => signature === '')) first.signature = signatureOf(delta)
}

/** @param provider the provider key's name, stored with signatures. */
export function finishCalls(calls: PartialCall[], provider: string, into: ModelChunk[]): void {
  for (const { id, name, rawArgs, signature } of calls.splice(0)) {
    if (name === '') continue
    const seal = signature === '' ? {} : { seal: { signature, provider } }
    into.push({ type: 'tool-call', id, toolName: name, args: parseArguments(rawArgs), rawArgs, ...seal })
  }
}

function grow(call: PartialCall, fragment: Json, into: ModelChunk[]): void {
  const part = asObject(fragment['function'])
  call.signature ||= signatureOf(fragment)
  const name = asText(part['name'])
  if (call.name === '' && name !== '') {
    call.name = name
    into.push({ type: 'tool-input-start', id: call.id, toolName: name })
    if (call.rawArgs !== '') into.push({ type: 'tool-input-delta', id: call.id, delta: call.rawArgs })
  }
  // Some services send the arguments as an object.
  const { arguments: given } = part
  const delta = typeof given === 'object' && given !== null ? JSON.stringify(given) : asText(given)
  if (delta === '') return
  call.rawArgs += delta
  if (call.name !== '') into.push({ type: 'tool-input-delta', id: call.id, delta })
}

/**
 * Returns undefined if the fragment starts a new call. An index identifies the call, but some services number every
 * call 0, so a different id starts a new call. Without an index, the id identifies the call. Without both (Google), a
 * name starts a new call if the last call has a name. Any other fragment continues the last call.
 */
function openCall(calls: readonly PartialCall[], fragment: Json): PartialCall | undefined {
  const index = asNumber(fragment['index'])
  const id = asText(fragment['id'])
  if (index !== undefined) {
    const known = calls.findLast((call) => call.index === index)
    return id === '' || id === known?.id ? known : undefined
  }
  if (id !== '') return calls.findLast((call) => call.id === id)
  const last = calls.at(-1)
  return last?.name !== '' && asText(asObject(fragment['function'])['name']) !== '' ? undefined : last
}

function begun(calls: PartialCall[], fragment: Json): PartialCall {
  const id = asText(fragment['id']) || `call_${calls.length}`
  const call = { index: asNumber(fragment['index']), id, name: '', rawArgs: '', signature: '' }
  calls.push(call)
  return call
}

function signatureOf({ extra_content }: Json): string {
  return extra_content === undefined ? '' : asText(asObject(asObject(extra_content)['google'])['thought_signature'])
}
