/** Tool calls, assembled from their fragments. */
import type { ModelChunk, PartSeal } from '../../../../features/providers/model-driver.ts'
import { asObject, asText } from '../../answer/json.ts'
import { parseArguments } from '../../answer/tool-arguments.ts'

export interface ToolCallAssembly {
  /** Takes the `tool_calls` of a delta or of a plain message. */
  add(fragments: unknown, into: ModelChunk[]): void
  /** All calls whole, in the order of their beginning. */
  finish(into: ModelChunk[]): void
  readonly isEmpty: boolean
}

interface Call {
  index: number
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
    add(fragments, into) {
      if (!Array.isArray(fragments)) return
      for (const [place, fragment] of fragments.entries()) addFragment(calls, asObject(fragment), place, into)
    },
    finish(into) {
      for (const { id, name, rawArgs, signature } of calls.splice(0)) {
        if (name === '') continue
        const seal: PartSeal | undefined = signature === '' ? undefined : { signature, provider: maker }
        const args = parseArguments(rawArgs)
        into.push({ type: 'tool-call', id, toolName: name, args, rawArgs, ...(seal && { seal }) })
      }
    },
    get isEmpty() {
      return calls.length === 0
    },
  }
}

function addFragment(calls: Call[], fragment: Record<string, unknown>, place: number, into: ModelChunk[]): void {
  const part = asObject(fragment['function'])
  const index = typeof fragment['index'] === 'number' ? fragment['index'] : place
  const call = callAt(calls, index, asText(fragment['id']))
  call.signature ||= asText(asObject(asObject(fragment['extra_content'])['google'])['thought_signature'])
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

// Some services give every call the index 0: another id at the same index is another call.
function callAt(calls: Call[], index: number, id: string): Call {
  const known = calls.findLast((call) => call.index === index)
  if (known && (id === '' || id === known.id)) return known
  const call = { index, id: id === '' ? `call_${calls.length}` : id, name: '', rawArgs: '', signature: '' }
  calls.push(call)
  return call
}
