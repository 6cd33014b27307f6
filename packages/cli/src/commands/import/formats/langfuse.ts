import { isJsonObject } from '../../../settings/json-file.ts'
import type { ForeignPrompt, ReadSource } from '../imported-prompt.ts'
import type { JsonEntry } from '../json-entries.ts'
import { convertResponseFormat, convertTools, openAiKeys, takeSettings } from '../model-settings.ts'
import { convertPlaceholders, type Naming, type VariableRule, variableName } from '../placeholders.ts'
import { escapeText, formatMessages, markReference, print, type Reference, type TextMessage } from '../prompt-text.ts'
import { convertChatMessage } from './chat-messages.ts'

/** The rule of Langfuse's server and editor. */
const langfuseRule: VariableRule = {
  tool: 'Langfuse',
  name: /^\p{L}[\p{L}\p{N}_]*$/u,
  hint: 'names begin with a letter, then letters, digits and "_"',
}

interface LangfusePrompt {
  name: string
  version: number
  labels: string[]
  raw: Record<string, unknown>
  place: { line?: number }
}

/**
 * Imports Langfuse JSON: a bulk export (a list of prompt versions), one prompt, or an API page with `data`.
 * If a prompt has several versions, `production` wins, then `latest`, then the newest.
 *
 * Sources: langfuse.com/docs/prompt-management/data-model (name, type, prompt, config, version, labels, tags),
 * …/features/message-placeholders (`{ type: 'placeholder', name }`), …/features/composability (`@@@langfusePrompt:name=…@@@`).
 */
export function importLangfuse(entries: readonly JsonEntry[]): ReadSource {
  const byName = new Map<string, LangfusePrompt[]>()
  const refused: ReadSource['refused'] = []
  for (const [index, entry] of entries.entries()) {
    const prompt = readPrompt(entry)
    if (typeof prompt === 'string') refused.push({ path: `entry ${index + 1}`, ...placeOf(entry), reason: prompt })
    else byName.set(prompt.name, [...(byName.get(prompt.name) ?? []), prompt])
  }
  const included = new Set([...byName.values()].flat().flatMap(({ raw }) => textsOf(raw['prompt']).flatMap(includedBy)))
  const chosen = new Map([...byName].map(([name, versions]) => [name, chooseVersion(versions)]))
  const prompts = [...byName.values()].map((versions) => convertChosen(versions, included, chosen))
  return { prompts, refused }
}

function placeOf({ value: _, ...place }: JsonEntry): { line?: number } {
  return place
}

/** @returns the prompt, or the reason why the entry is not a prompt */
function readPrompt({ value: raw, ...place }: JsonEntry): LangfusePrompt | string {
  if (!isJsonObject(raw)) return 'is not an object'
  if (typeof raw['name'] !== 'string' || raw['name'] === '') return 'has no "name": add one to the export'
  if (typeof raw['prompt'] !== 'string' && !Array.isArray(raw['prompt'])) {
    return `"${raw['name']}" has no text or list of messages in "prompt"; an API page has only names, so export each prompt`
  }
  const labels = Array.isArray(raw['labels']) ? raw['labels'].filter((label) => typeof label === 'string') : []
  return { name: raw['name'], version: Number(raw['version'] ?? 1), labels, raw, place }
}

function chooseVersion(versions: readonly LangfusePrompt[]): LangfusePrompt | undefined {
  const sorted = [...versions].sort((a, b) => b.version - a.version)
  const labeled = (label: string): LangfusePrompt | undefined => sorted.find(({ labels }) => labels.includes(label))
  return labeled('production') ?? labeled('latest') ?? sorted[0]
}

type Chosen = ReadonlyMap<string, LangfusePrompt | undefined>

interface Found extends Naming {
  references: Reference[]
  types: Map<string, string>
}

function convertChosen(
  versions: readonly LangfusePrompt[],
  included: ReadonlySet<string | undefined>,
  all: Chosen,
): ForeignPrompt {
  const chosen = chooseVersion(versions)
  if (!chosen) throw new RangeError('no version')
  const { name, version, raw, place } = chosen
  const found: Found = { losses: [], sources: new Map(), references: [], types: new Map() }
  const { losses } = found
  const listed = Array.isArray(raw['versions']) ? raw['versions'].map(Number) : []
  const others = new Set([...versions.map((one) => one.version), ...listed].filter((one) => one !== version))
  if (others.size > 0) {
    losses.push(`Imported version ${version}; skipped ${[...others].sort((a, b) => b - a).join(', ')}`)
  }
  for (const one of versions) {
    const isMain = (label: string): boolean => label === 'latest' || (one === chosen && label === 'production')
    for (const label of one.labels.filter((label) => !isMain(label))) {
      losses.push(`The label "${label}" of version ${one.version} was dropped`)
    }
  }
  if (Array.isArray(raw['tags']) && raw['tags'].length > 0)
    losses.push(`The tags ${raw['tags'].join(', ')} were dropped`)
  const note = raw['commitMessage']
  if (typeof note === 'string' && note !== '') losses.push(`The commit message "${note.slice(0, 200)}" was dropped`)
  const front = configOf(raw['config'], losses)
  const { prompt } = raw
  // An included prompt must stay plain text: messages cannot nest, and message tags would add line breaks to the
  // including text.
  const text =
    typeof prompt === 'string' && included.has(name)
      ? convertText(prompt, all, found)
      : formatMessages(messagesOf(prompt, all, found))
  return { path: name, front, text, ...place, ...found }
}

function configOf(config: unknown, losses: string[]): Record<string, unknown> {
  if (!isJsonObject(config)) return {}
  const { tools, response_format: format, json_schema: bare, ...settings } = config
  const taken = takeSettings(settings, openAiKeys, losses)
  const schema = isJsonObject(bare) ? convertResponseFormat({ json_schema: bare }, losses) : undefined
  return { ...taken, tools: convertTools(tools, losses), schema: convertResponseFormat(format, losses) ?? schema }
}

// A text prompt has no role, so it becomes a user message.
function messagesOf(prompt: unknown, all: Chosen, found: Found): TextMessage[] {
  if (typeof prompt === 'string') return [{ role: 'user', content: convertText(prompt, all, found) }]
  const messages: TextMessage[] = []
  const reader = {
    convertText: (text: string) => convertText(text, all, found),
    losses: found.losses,
    calls: new Map(),
  }
  for (const message of Array.isArray(prompt) ? prompt : []) {
    const { role, name }: Record<string, unknown> = isJsonObject(message) ? message : {}
    if (isJsonObject(message) && typeof role === 'string') messages.push(convertChatMessage(message, role, reader))
    else if (typeof name === 'string') messages.push(placeholderMessage(name, found))
    else found.losses.push(`A message is not supported: ${JSON.stringify(message).slice(0, 200)}`)
  }
  return messages
}

// A parameter cannot insert a list of messages, so it inserts the JSON of the list.
function placeholderMessage(name: string, found: Found): TextMessage {
  const variable = variableName(name, found)
  found.types.set(variable, 'array')
  found.losses.push(
    `The message placeholder "${name}" became the parameter "${variable}", inserted as JSON in one user message`,
  )
  return { role: 'user', content: print(variable) }
}

const reference = /@@@langfusePrompt:([^@]+)@@@/g

function partsOf(text = ''): Map<string, string> {
  return new Map(
    text.split('|').map((part) => {
      const [key = '', ...value] = part.split('=')
      return [key, value.join('=')]
    }),
  )
}

function textsOf(prompt: unknown): string[] {
  const messages = Array.isArray(prompt) ? prompt : [{ content: prompt }]
  return messages.filter(isJsonObject).flatMap(({ content }) => (typeof content === 'string' ? [content] : []))
}

function includedBy(text: string): (string | undefined)[] {
  return [...text.matchAll(reference)].map(([, parts]) => partsOf(parts).get('name'))
}

function convertText(text: string, all: Chosen, found: Found): string {
  const { losses, references } = found
  let converted = ''
  let done = 0
  for (const match of text.matchAll(reference)) {
    const parts = partsOf(match[1])
    const target = parts.get('name')
    converted += convertPlaceholders(text.slice(done, match.index), langfuseRule, found)
    if (target === undefined) converted += escapeText(match[0])
    else {
      // An included prompt is a text part of its own.
      const line = converted.slice(converted.lastIndexOf('\n') + 1)
      if (line.trim() !== '') losses.push(`The text of "${target}" now begins on a new line`)
      converted += markReference({ target, passed: new Map() }, references)
      notePin(target, parts, all.get(target), losses)
    }
    done = match.index + match[0].length
  }
  return converted + convertPlaceholders(text.slice(done), langfuseRule, found)
}

/** Only one version of each prompt is imported, so references to other versions are reported. */
function notePin(
  target: string,
  parts: Map<string, string>,
  taken: LangfusePrompt | undefined,
  losses: string[],
): void {
  const [version, label] = [parts.get('version'), parts.get('label')]
  if (!taken || (version === undefined && label === undefined)) return
  if (version === undefined ? taken.labels.includes(label ?? '') : taken.version === Number(version)) return
  losses.push(
    `The reference to "${target}" asks for ${version === undefined ? `the label ${label}` : `version ${version}`}: version ${taken.version} was imported`,
  )
}
