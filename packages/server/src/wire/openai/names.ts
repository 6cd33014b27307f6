/** Prompt names (`[<project>/]<path>[@<version>]`, in `model` or in `prompt`), and ids that contain the uuid of a run or conversation. */
import { DoorRefusal, type Fields, invalid, objectAt, optional, textAt } from './fields.ts'

export interface PromptName {
  /** The text before `@`: a path, maybe with a project before it. */
  place: string
  /** `live`, a published number, or a uuid. */
  version: string
  /** The field that named it, for errors. */
  param: 'model' | 'prompt.id'
}

export interface NamedPrompt {
  name: PromptName
  /** `prompt.variables` as they were sent. */
  variables: Fields | undefined
}

/** Prompts of OpenAI keep their ids as paths. Their version n is the prompt at `pmpt_<id>/v<n>`. */
const openaiPrompt = /(^|\/)pmpt_[^/]+$/

/** @throws DoorRefusal if neither field names a prompt, or if both name different ones. */
export function readPromptName(body: Fields): NamedPrompt {
  const model = optional(body, 'model', textAt)
  const prompt = optional(body, 'prompt', objectAt)
  const byModel = model === undefined ? undefined : modelName(model)
  if (!prompt) {
    if (!byModel) throw invalid('model', 'the path of a prompt')
    return { name: byModel, variables: undefined }
  }
  const id = optional(prompt, 'id', textAt, 'prompt.')
  if (id === undefined) throw invalid('prompt.id', 'the path of a prompt')
  const name = objectName(id, optional(prompt, 'version', textAt, 'prompt.'))
  if (byModel && (byModel.place !== name.place || byModel.version !== name.version)) {
    const message = `\`model\` names '${model}' and \`prompt\` names '${id}'. Send one of them`
    throw new DoorRefusal(400, { code: 'model_mismatch', param: 'model', message })
  }
  return { name, variables: optional(prompt, 'variables', objectAt, 'prompt.') }
}

export function modelName(model: string): PromptName {
  const at = model.indexOf('@')
  const place = at < 0 ? model : model.slice(0, at)
  return { place, version: at < 0 ? 'live' : model.slice(at + 1), param: 'model' }
}

function objectName(id: string, version: string | undefined): PromptName {
  const param = 'prompt.id'
  if (version !== undefined && openaiPrompt.test(id)) return { place: `${id}/v${version}`, version: 'live', param }
  return { place: id, version: version ?? 'live', param }
}

const hex = (uuid: string) => uuid.replaceAll('-', '')

export const responseId = (runUuid: string) => `resp_${hex(runUuid)}`
export const completionId = (runUuid: string) => `chatcmpl-${hex(runUuid)}`
export const conversationId = (conversationUuid: string) => `conv_${hex(conversationUuid)}`

const itemPrefixes = { message: 'msg', call: 'fc', reasoning: 'rs' } as const

export const itemId = (type: keyof typeof itemPrefixes, runUuid: string, index: number) =>
  `${itemPrefixes[type]}_${hex(runUuid)}_${index}`

/** Returns the uuid in an id with this prefix. */
function uuidIn(prefix: string, id: string): string | undefined {
  const digits = id.startsWith(prefix) ? id.slice(prefix.length) : ''
  const parts = /^([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/.exec(digits)
  return parts ? parts.slice(1).join('-') : undefined
}

export const runOfResponse = (id: string): string | undefined => uuidIn('resp_', id)
export const uuidOfConversation = (id: string): string | undefined => uuidIn('conv_', id)

/** The run of an output item, and the item's place in the run's output. */
export function placeOfItem(id: string): { runUuid: string; index: number } | undefined {
  const [, prefix, digits = '', index] = /^((?:msg|fc|rs)_)([0-9a-f]{32})_(\d{1,5})$/.exec(id) ?? []
  const runUuid = prefix === undefined ? undefined : uuidIn('', digits)
  return runUuid === undefined ? undefined : { runUuid, index: Number(index) }
}
