/** What a check of a prompt says besides its compile errors: what a run would refuse, and what the author may not mean. */
import { type CompileIssue, issueAt, type Place } from '../compile-error.ts'
import type { ParsedText } from '../parse/parse-text.ts'
import { MAX_ISSUES } from '../references.ts'
import { isObject, readings } from '../rendering/read-parameters.ts'
import { type Fragment, literalText, type Tag, walkNodes } from '../syntax/nodes.ts'
import { knownKeys, readConfig } from './config.ts'
import { nearKey } from './near-key.ts'
import { parseYaml, rangeAt } from './yaml.ts'

/** An issue of the prompt itself. A run refuses a prompt with an error. */
export interface PromptIssue extends CompileIssue {
  severity: 'error' | 'warning'
}

/** An issue before its place is known. */
interface Found {
  code: string
  message: string
  at: readonly (string | number)[]
}

interface Findings {
  errors: Found[]
  warnings: Found[]
}

/** An issue at its offsets into the text of the prompt. */
type Placed = Omit<Found, 'at'> & { severity: PromptIssue['severity']; start: number; end: number }

/** So many unknown keys of a prompt are compared with the known ones. */
const MAX_COMPARED_KEYS = 200
const MAX_SCHEMA_PARTS = 1_000
/** Attributes of a step that are no settings. */
const STEP_KEYS = new Set(['as', 'raw', 'isolated'])
const PARAMETER_TYPES = new Set([...Object.keys(readings), 'text', 'string'])
const SCHEMA_TYPES = new Set(['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'])

type Config = Readonly<Record<string, unknown>>

/**
 * Lists at most 20 issues, errors first. The time is linear in the length of the text.
 * @param rendered the tree with references inlined. Undefined if the prompt does not compile.
 */
export function promptIssues(path: string, root: ParsedText, config: Config, rendered?: Fragment): PromptIssue[] {
  const budget = { comparedKeys: MAX_COMPARED_KEYS }
  const found = [...frontMatterIssues(root, config, budget), ...stepIssues(root.fragment, budget)]
  if (rendered && !hasMessages(rendered)) found.push(noMessages(root))
  const errors = found.filter(({ severity }) => severity === 'error')
  const taken = new Set(errors.map(({ start }) => start))
  const warnings = found.filter(({ severity, start }) => severity === 'warning' && !taken.has(start))
  return [...errors, ...warnings].slice(0, MAX_ISSUES).map(({ severity, code, message, start, end }) => {
    const place: Place = { path, text: root.text, start, end }
    return { ...issueAt(place, code, message), severity }
  })
}

interface Budget {
  comparedKeys: number
}

function frontMatterIssues({ fragment }: ParsedText, config: Config, budget: Budget): Placed[] {
  const node = fragment.children.find((child) => child.type === 'Config')
  if (node?.type !== 'Config') return []
  const { errors, warnings } = settingIssues(config, budget)
  const found = [
    ...errors.slice(0, MAX_ISSUES).map((one) => ({ ...one, severity: 'error' as const })),
    ...[...warnings, ...typeWarnings(config)]
      .slice(0, MAX_ISSUES)
      .map((one) => ({ ...one, severity: 'warning' as const })),
  ]
  if (found.length === 0) return []
  const { contents } = parseYaml(node.value)
  const valueAt = node.start + '---'.length
  return found.map(({ at, ...issue }) => {
    const { start, end } = rangeAt(contents, at)
    return { ...issue, start: valueAt + start, end: valueAt + end }
  })
}

/** An expression may have any value, so only the literal attributes of the steps are checked. */
function stepIssues(fragment: Fragment, budget: Budget): Placed[] {
  const found: Placed[] = []
  for (const node of walkNodes(fragment)) {
    if (node.type !== 'ElementTag' || node.name !== 'step') continue
    const attributes = new Map(node.attributes.map((attribute) => [attribute.name, attribute]))
    const { errors, warnings } = settingIssues(literalSettings(node), budget)
    const placed = (severity: Placed['severity'], { at, ...issue }: Found): void => {
      const { start, end } = attributes.get(String(at[0])) ?? node
      found.push({ ...issue, severity, start, end })
    }
    for (const one of errors) placed('error', one)
    for (const one of warnings) placed('warning', one)
  }
  return found
}

function literalSettings({ attributes }: Tag): Record<string, unknown> {
  const settings = attributes.flatMap((attribute): [string, unknown][] => {
    if (STEP_KEYS.has(attribute.name)) return []
    if (attribute.value === true) return [[attribute.name, true]]
    // Empty text counts as no value.
    const text = literalText(attribute)
    return text ? [[attribute.name, text]] : []
  })
  return Object.fromEntries(settings)
}

function settingIssues(config: Config, budget: Budget): Findings {
  const errors: Found[] = []
  readConfig(config, ({ message, at, feature }) => {
    const code = feature === undefined ? 'invalid-setting' : 'unsupported-feature'
    errors.push({ code, message, at })
  })
  const warnings: Found[] = []
  for (const [key, value] of Object.entries(config)) {
    if (value === undefined || value === null || knownKeys.has(key)) continue
    budget.comparedKeys -= 1
    const near = budget.comparedKeys < 0 ? undefined : nearKey(key)
    if (near === undefined) continue
    const message = `Did you mean \`${near}\`? The provider gets \`${key}\` as it is; write it under \`providerOptions\` if it is meant`
    warnings.push({ code: 'unknown-key', message, at: [key] })
  }
  return { errors, warnings }
}

/** Types that mean nothing to stet. A run ignores them. */
function typeWarnings({ parameters, schema }: Config): Found[] {
  const found: Found[] = []
  for (const [name, declared] of Object.entries(isObject(parameters) ? parameters : {})) {
    const type = isObject(declared) ? declared['type'] : declared
    if (typeof type !== 'string' || PARAMETER_TYPES.has(type)) continue
    const at = ['parameters', name, ...(isObject(declared) ? ['type'] : [])]
    found.push({
      code: 'unknown-type',
      message: `\`${type}\` is no type of a parameter; its values stay unchanged`,
      at,
    })
  }
  return isObject(schema) ? [...found, ...schemaTypeWarnings(schema)] : found
}

function schemaTypeWarnings(schema: Config): Found[] {
  const found: Found[] = []
  const open: { part: unknown; at: Found['at'] }[] = [{ part: schema, at: ['schema'] }]
  for (let visited = 0; visited < MAX_SCHEMA_PARTS; visited += 1) {
    const next = open.pop()
    if (!next) break
    const { part, at } = next
    if (!isObject(part)) continue
    const { type } = part
    const unknown = [type].flat().find((each) => typeof each === 'string' && !SCHEMA_TYPES.has(each))
    if (unknown !== undefined) {
      found.push({ code: 'unknown-type', message: `\`${unknown}\` is no type of JSON Schema`, at: [...at, 'type'] })
    }
    open.push(...schemaParts(part, at))
  }
  return found
}

/** The schemas directly inside a schema. */
function schemaParts(schema: Config, at: Found['at']): { part: unknown; at: Found['at'] }[] {
  const named = ['properties', '$defs'].flatMap((key) => {
    const parts = schema[key]
    return isObject(parts) ? Object.entries(parts).map(([name, part]) => ({ part, at: [...at, key, name] })) : []
  })
  const listed = ['anyOf', 'oneOf', 'allOf'].flatMap((key) => {
    const parts = schema[key]
    return Array.isArray(parts) ? parts.map((part: unknown, index) => ({ part, at: [...at, key, index] })) : []
  })
  return [...named, ...listed, { part: schema['items'], at: [...at, 'items'] }]
}

/** Whether the prompt may render a message. */
function hasMessages(rendered: Fragment): boolean {
  for (const node of walkNodes(rendered)) {
    if (node.type === 'MustacheTag' || (node.type === 'Text' && node.data.trim() !== '')) return true
    if (node.type === 'ElementTag' && node.name !== 'step' && node.name !== 'scope') return true
  }
  return false
}

function noMessages({ fragment }: ParsedText): Placed {
  const front = fragment.children.find(({ type }) => type === 'Config')
  const start = front?.end ?? 0
  const message = 'The prompt has no messages, so a run needs messages of the caller'
  return { severity: 'warning', code: 'no-messages', message, start, end: start }
}
