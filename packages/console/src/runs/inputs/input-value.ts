/** The inputs of a prompt: which there are, and what is typed into their fields. Pure. */
import type { Prompt } from '@stet/sdk'
import { bytesOf, isDataUrl, mediaTypeOf } from '../../ui/data-url.ts'

export type InputKind = 'text' | 'number' | 'boolean' | 'json' | 'image' | 'file'

export interface PromptInput {
  name: string
  kind: InputKind
  /** The type as the prompt declares it. Null for variables that it uses without a declaration. */
  declared: string | null
  isRequired: boolean
  description: string | null
  /** The value that the prompt uses if the field is empty. */
  fallback: unknown
}

/** The content of a field as typed, so that half a number or half a JSON text is kept too. */
export interface InputDraft {
  text: string
  /** `text` is JSON, also in a field of another kind. */
  isJson?: boolean
  /** `text` is the data URL of a chosen file. */
  file?: { name: string; bytes: number }
}

export type InputDrafts = Readonly<Record<string, InputDraft>>

/** A data URL may have this many characters. The server accepts requests of 4 MB. */
export const largestDataUrl = 3 * 1024 * 1024

/** A text field holds this many characters and stays fast. */
export const longestTyped = 50_000

const kinds: Record<string, InputKind> = {
  number: 'number',
  integer: 'number',
  boolean: 'boolean',
  object: 'json',
  array: 'json',
  image: 'image',
  file: 'file',
}

export function inputsOf({ parameters, config }: Pick<Prompt, 'parameters' | 'config'>): PromptInput[] {
  const declarations = objectOr(config['parameters'])
  return Object.entries(parameters).map(([name, parameter]) => {
    const isDeclared = Object.hasOwn(declarations, name)
    const given = isDeclared ? declarations[name] : undefined
    // A declaration may be the name of its type only.
    const declaration = typeof given === 'string' ? { type: given } : objectOr(given)
    // The parameter's own type is `text` for all that legacy clients do not accept.
    const type = typeof declaration['type'] === 'string' ? declaration['type'] : parameter.type
    const description = declaration['description'] ?? parameter['description']
    return {
      name,
      kind: kinds[type] ?? 'text',
      declared: isDeclared ? type : null,
      isRequired: parameter.required === true,
      description: typeof description === 'string' && description ? description : null,
      fallback: declaration['default'],
    }
  })
}

/** The names of the tools that this page answers: those that the prompt defines itself. */
export function clientTools(config: Prompt['config']): string[] {
  const given = config['tools']
  const maps = Array.isArray(given) ? given : [given]
  return maps.flatMap((map) =>
    Object.entries(objectOr(map)).flatMap(([name, tool]) => (isClientTool(tool) ? [name] : [])),
  )
}

function isClientTool(tool: unknown): boolean {
  return typeof tool === 'object' && tool !== null && !Array.isArray(tool) && !('handler' in tool)
}

/** The values of the fields. */
export interface Parsed {
  parameters: Record<string, unknown>
  /** Why a field's text has no value, for example half-written JSON. By the name of the input. */
  problems: Record<string, string>
}

/** Reads the fields. Empty ones are left out, so that the prompt's defaults apply. */
export function valuesOf(inputs: readonly PromptInput[], drafts: InputDrafts): Parsed {
  const parameters: Record<string, unknown> = {}
  const problems: Record<string, string> = {}
  for (const input of inputs) {
    const draft = drafts[input.name]
    if (!draft || draft.text === '') continue
    try {
      parameters[input.name] = parsed(input, draft)
    } catch (error) {
      problems[input.name] = error instanceof Error ? error.message : String(error)
    }
  }
  return { parameters, problems }
}

export const requiredInput = 'The prompt requires this input.'

/** Problems of the required inputs without a value, by name. The server would refuse a run without them. */
export function missingIn(inputs: readonly PromptInput[], parameters: Parsed['parameters']): Parsed['problems'] {
  const missing = inputs.filter(
    ({ name, isRequired, declared, fallback }) =>
      isRequired && declared !== 'null' && (parameters[name] ?? fallback ?? null) === null,
  )
  return Object.fromEntries(missing.map(({ name }) => [name, requiredInput]))
}

/** A number with a decimal point or comma. NaN for other text, also for "4,000", which may be four or four thousand. */
export function decimalIn(text: string): number {
  return /^\s*[+-]?[1-9]\d{0,2}(,\d{3})+\s*$/.test(text) ? Number.NaN : Number(text.replace(',', '.'))
}

/** @throws Error that says what is wrong with the text */
function parsed({ kind }: PromptInput, { text, isJson, file }: InputDraft): unknown {
  if (isJson || kind === 'json') return jsonOf(text)
  if (file) return text
  if (kind === 'boolean') return text === 'true'
  if (kind !== 'number') return text
  const number = Number(text)
  if (text.trim() === '' || !Number.isFinite(number)) throw new Error(`This is not a number: ${text}`)
  return number
}

/** @throws Error with the place where the text stops being JSON */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Error(`This is not JSON: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** The fields for given values. Values that no field of the input's kind can hold become JSON. */
export function draftsOf(inputs: readonly PromptInput[], values: Record<string, unknown>): InputDrafts {
  const named = inputs.flatMap((input) => {
    const value = values[input.name]
    return value === undefined || value === null ? [] : [[input.name, draftOf(input, value)] as const]
  })
  return Object.fromEntries(named)
}

function draftOf({ kind }: PromptInput, value: unknown): InputDraft {
  if (kind === 'json') return jsonDraft(value)
  if (typeof value === 'string' && value.length > longestTyped && !isDataUrl(value)) return longDraft(value)
  if (typeof value === 'string' && value !== '') return isDataUrl(value) ? fileDraft(kind, value) : { text: value }
  if (typeof value === 'number' && kind === 'number') return { text: String(value) }
  if (typeof value === 'boolean' && kind === 'boolean') return { text: String(value) }
  return { ...jsonDraft(value), isJson: true }
}

function jsonDraft(value: unknown): InputDraft {
  const text = JSON.stringify(value, null, 2)
  return text.length > longestTyped ? longDraft(text) : { text }
}

/** A text beyond `longestTyped`, which is shown by its size only. */
export function longDraft(text: string): InputDraft {
  return { text, file: { name: 'long text', bytes: text.length } }
}

function fileDraft(kind: InputKind, text: string): InputDraft {
  if (kind !== 'image' && kind !== 'file') return { text }
  return { text, file: { name: mediaTypeOf(text), bytes: bytesOf(text) } }
}

function objectOr(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {}
}
