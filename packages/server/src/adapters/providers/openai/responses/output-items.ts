/** Output items with a start and an end: calls, encrypted reasoning, generated images, messages. */
import type { ModelChunk } from '../../../../features/providers/model-driver.ts'
import { generatedImage } from '../../answer/content.ts'
import { uncarried } from '../../answer/failure.ts'
import { asObject, asText, parseArguments } from '../../json.ts'
import type { OpenaiService } from '../service.ts'

type Item = Record<string, unknown>

export interface OutputItems {
  hasCalls(): boolean
  /** The type of an ignored item, if there was no other content. */
  loneType(): string | undefined
  begin(item: Item, into: ModelChunk[]): void
  addArguments(itemId: string, delta: string, into: ModelChunk[]): void
  /** @throws ProviderError `uncarried` for an item that the caller would have to answer, and for sound. */
  end(item: Item, into: ModelChunk[]): void
}

/** Calls that wait for the caller in formats that stet's messages do not have. */
const awaited = new Set([
  'computer_call',
  'local_shell_call',
  'shell_call',
  'apply_patch_call',
  'custom_tool_call',
  'mcp_approval_request',
])

export function outputItems({ name: provider }: OpenaiService): OutputItems {
  const callIds = new Map<string, string>()
  let hasCalls = false
  let isCarried = false
  let passedBy: string | undefined

  const endCall = (item: Item, into: ModelChunk[]) => {
    hasCalls = true
    const rawArgs = asText(item['arguments'])
    const id = asText(item['call_id']) || asText(item['id'])
    into.push({ type: 'tool-call', id, toolName: asText(item['name']), args: parseArguments(rawArgs), rawArgs })
  }
  const endThought = (item: Item, into: ModelChunk[]) => {
    const signature = asText(item['encrypted_content'])
    if (signature !== '') into.push({ type: 'reasoning-end', id: asText(item['id']), seal: { signature, provider } })
  }
  const endImage = (item: Item, into: ModelChunk[]) => {
    const content = asText(item['result'])
    const format = asText(item['output_format'])
    if (content === '') return
    isCarried = true
    into.push(generatedImage(content, format === '' ? undefined : `image/${format}`))
  }
  return {
    hasCalls() {
      return hasCalls
    },
    loneType() {
      return hasCalls || isCarried ? undefined : passedBy
    },
    begin(item, into) {
      if (item['type'] !== 'function_call') return
      const id = asText(item['call_id']) || asText(item['id'])
      callIds.set(asText(item['id']), id)
      into.push({ type: 'tool-input-start', id, toolName: asText(item['name']) })
    },
    addArguments(itemId, delta, into) {
      const id = callIds.get(itemId)
      if (id !== undefined && delta !== '') into.push({ type: 'tool-input-delta', id, delta })
    },
    end(item, into) {
      const type = asText(item['type'])
      switch (type) {
        case 'function_call':
          return endCall(item, into)
        case 'reasoning':
          return endThought(item, into)
        case 'image_generation_call':
          return endImage(item, into)
        case 'message':
          isCarried = true
          return refuseSound(item)
      }
      if (awaited.has(type)) throw uncarried(type)
      passedBy ??= type
    },
  }
}

function refuseSound({ content }: Item): void {
  if (!Array.isArray(content)) return
  const sound = content.map((part) => asText(asObject(part)['type'])).find((type) => type.includes('audio'))
  if (sound !== undefined) throw uncarried(sound)
}
