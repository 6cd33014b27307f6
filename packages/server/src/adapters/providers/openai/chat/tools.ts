/** Tool calls, assembled from their fragments. */
import type { ModelChunk, PartSeal } from '../../../../features/providers/model-driver.ts'
import { uncarried } from '../../answer/chunk-reader.ts'
import { asObject, asText } from '../../answer/json.ts'
import { parseArguments } from '../../answer/tool-arguments.ts'

export interface ToolCallAssembly {
  /**
   * @param fragments the `tool_calls` of a delta or of a plain message.
   * @param areWhole each of them is a call of its own.
   * @throws ProviderError `uncarried` for a call that is none of a function.
   */
  add(fragments: unknown, areWhole: boolean, into: ModelChunk[]): void
  /** A delta of Gemini's may bring the signature of its calls apart from them: it belongs to the first. */
  sign(delta: Record<string, unknown>): void
  /** All calls whole, in the order of their beginning. */
  finish(into: ModelChunk[]): void
  isEmpty(): boolean
}

interface Call {
  /** Undefined where the service does not number its calls. */
  index: number | undefined
  id: string
  name: string
  rawArgs: string
  /** Gemini's, over the thought that led to the call. */
  signature: string
}

/** @param maker the entry's name, kept with signatures. */
export function toolCallAssembly(maker: string): ToolCallAssembly {
  const calls: Call[] = []
  return {
    add(fragments, areWhole, into) {
      if (!Array.isArray(fragments)) return
      for (const fragment of fragments.map(asObject)) {
        refuseOthers(fragment)
        const call = (areWhole ? undefined : openCall(calls, fragment)) ?? begun(calls, fragment)
        grow(call, fragment, into)
      }
    },
    sign(delta) {
      const [first] = calls
      if (first && calls.every(({ signature }) => signature === '')) first.signature = signatureOf(delta)
    },
    finish(into) {
      for (const { id, name, rawArgs, signature } of calls.splice(0)) {
        if (name === '') continue
        const seal: PartSeal | undefined = signature === '' ? undefined : { signature, provider: maker }
        const args = parseArguments(rawArgs)
        into.push({ type: 'tool-call', id, toolName: name, args, rawArgs, ...(seal && { seal }) })
      }
    },
    isEmpty() {
      return calls.length === 0
    },
  }
}

function grow(call: Call, fragment: Record<string, unknown>, into: ModelChunk[]): void {
  const part = asObject(fragment['function'])
  call.signature ||= signatureOf(fragment)
  const name = asText(part['name'])
  if (call.name === '' && name !== '') {
    call.name = name
    into.push({ type: 'tool-input-start', id: call.id, toolName: name })
    if (call.rawArgs !== '') into.push({ type: 'tool-input-delta', id: call.id, delta: call.rawArgs })
  }
  // Some services send the arguments of a plain or local call as an object.
  const delta =
    typeof part['arguments'] === 'object'
      ? (JSON.stringify(part['arguments'] ?? undefined) ?? '')
      : asText(part['arguments'])
  if (delta === '') return
  call.rawArgs += delta
  if (call.name !== '') into.push({ type: 'tool-input-delta', id: call.id, delta })
}

/**
 * The call that a fragment goes on with. Its number tells, where there is one; but some services give every call the
 * number 0, so another id is another call. Without a number an id or a name begins a call, and anything else goes on
 * with the last (Google).
 */
function openCall(calls: readonly Call[], fragment: Record<string, unknown>): Call | undefined {
  const index = indexOf(fragment)
  const id = asText(fragment['id'])
  if (index !== undefined) {
    const known = calls.findLast((call) => call.index === index)
    return id === '' || id === known?.id ? known : undefined
  }
  if (id !== '') return calls.findLast((call) => call.id === id)
  const last = calls.at(-1)
  return last?.name !== '' && asText(asObject(fragment['function'])['name']) !== '' ? undefined : last
}

function begun(calls: Call[], fragment: Record<string, unknown>): Call {
  const id = asText(fragment['id']) || `call_${calls.length}`
  const call = { index: indexOf(fragment), id, name: '', rawArgs: '', signature: '' }
  calls.push(call)
  return call
}

function indexOf({ index }: Record<string, unknown>): number | undefined {
  return typeof index === 'number' ? index : undefined
}

function signatureOf({ extra_content }: Record<string, unknown>): string {
  return extra_content === undefined ? '' : asText(asObject(asObject(extra_content)['google'])['thought_signature'])
}

function refuseOthers({ type, function: called }: Record<string, unknown>): void {
  if (typeof type === 'string' && type !== 'function' && called === undefined) throw uncarried(`${type} tool call`)
}
