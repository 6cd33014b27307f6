import type { ModelChunk } from '../../../../features/providers/model-driver.ts'
import { generatedImage } from '../../answer/content.ts'
import { uncarried } from '../../answer/failure.ts'
import { asObject, asText, parseArguments } from '../../json.ts'

type Item = Record<string, unknown>

export interface OutputItems {
  provider: string
  callIds: Map<string, string>
  hasCalls: boolean
  hasContent: boolean
  ignoredType: string | undefined
}

/** Calls that the caller must answer, in formats that stet's messages do not support. */
const awaited = new Set([
  'computer_call',
  'local_shell_call',
  'shell_call',
  'apply_patch_call',
  'custom_tool_call',
  'mcp_approval_request',
])

export function newOutputItems(provider: string): OutputItems {
  return { provider, callIds: new Map(), hasCalls: false, hasContent: false, ignoredType: undefined }
}

export function beginItem({ callIds }: OutputItems, item: Item, into: ModelChunk[]): void {
  if (item['type'] !== 'function_call') return
  const id = asText(item['call_id']) || asText(item['id'])
  callIds.set(asText(item['id']), id)
  into.push({ type: 'tool-input-start', id, toolName: asText(item['name']) })
}

export function addArguments({ callIds }: OutputItems, itemId: string, delta: string, into: ModelChunk[]): void {
  const id = callIds.get(itemId)
  if (id !== undefined && delta !== '') into.push({ type: 'tool-input-delta', id, delta })
}

/** @throws ProviderError `uncarried` for audio, and for an item that the caller would have to answer. */
export function endItem(items: OutputItems, item: Item, into: ModelChunk[]): void {
  const type = asText(item['type'])
  const itemId = asText(item['id'])
  if (type === 'function_call') {
    items.hasCalls = true
    const rawArgs = asText(item['arguments'])
    const id = asText(item['call_id']) || itemId
    into.push({ type: 'tool-call', id, toolName: asText(item['name']), args: parseArguments(rawArgs), rawArgs })
  } else if (type === 'reasoning') {
    const signature = asText(item['encrypted_content'])
    const seal = { signature, provider: items.provider }
    if (signature !== '') into.push({ type: 'reasoning-end', id: itemId, seal })
  } else if (type === 'image_generation_call') {
    const content = asText(item['result'])
    const format = asText(item['output_format'])
    if (content === '') return
    items.hasContent = true
    into.push(generatedImage(content, format === '' ? undefined : `image/${format}`))
  } else if (type === 'message') {
    items.hasContent = true
    refuseSound(item)
  } else if (awaited.has(type)) throw uncarried(type)
  else items.ignoredType ??= type
}

function refuseSound({ content }: Item): void {
  if (!Array.isArray(content)) return
  const sound = content.map((part) => asText(asObject(part)['type'])).find((type) => type.includes('audio'))
  if (sound !== undefined) throw uncarried(sound)
}
