/** Findings of a check besides compile errors: settings that a run would refuse, and probable mistakes. */
import { type CompileIssue, issueAt, type Place } from '../compile-error.ts'
import type { ParsedText } from '../parse/parse-text.ts'
import { MAX_ISSUES } from '../parse/references.ts'
import { isObject } from '../rendering/read-parameters.ts'
import { type Fragment, literalText, type Tag, walkNodes } from '../syntax/nodes.ts'
import { knownKeys, readConfig, usualRange } from './config.ts'
import { nearKey } from './near-key.ts'
import { parseYaml, rangeAt } from './yaml.ts'

/** An issue of the prompt itself. A run refuses a prompt with an error. */
export interface PromptIssue extends CompileIssue {
  severity: 'error' | 'warning'
}

/** An issue before its place is known. */
interface Found {
  severity: PromptIssue['severity']
  code: string
  message: string
  /** The way to the key. */
  at: readonly (string | number)[]
}

/** An issue at its offsets into the text of the prompt. */
type Placed = Omit<Found, 'at'> & { start: number; end: number }

/** The number of unknown keys of a prompt that are compared with the known ones. */
const MAX_COMPARED_KEYS = 50
/** Attributes of a step that are no settings. */
const STEP_KEYS = new Set(['as', 'raw', 'isolated'])
/** The types that `readings` has, and two that take any value. Its code would make the CLI larger. */
const PARAMETER_TYPES = new Set('text string number integer boolean object array null image file'.split(' '))

type Config = Readonly<Record<string, unknown>>

interface Budget {
  comparedKeys: number
}

/**
 * Lists at most 20 issues, errors first. The time is linear in the length of the text.
 * @param rendered the tree with references inlined. Undefined if the prompt does not compile.
 */
export function promptIssues(path: string, root: ParsedText, config: Config, rendered?: Fragment): PromptIssue[] {
  const budget = { comparedKeys: MAX_COMPARED_KEYS }
  const found = [...frontMatterIssues(root, config, budget), ...stepIssues(root.fragment, budget)]
  if (rendered && !hasMessages(rendered)) found.push(noMessages(root))
  const refused = new Set(found.flatMap(({ severity, start }) => (severity === 'error' ? [start] : [])))
  const shown = found.filter(({ severity, start }) => severity === 'error' || !refused.has(start))
  return firstOf(shown).map(({ severity, code, message, ...range }) => {
    const place: Place = { path, text: root.text, ...range }
    return { ...issueAt(place, code, message), severity }
  })
}

/** Errors come first, so that warnings never take their place. */
function firstOf<T extends Pick<Found, 'severity'>>(found: readonly T[]): T[] {
  const errors = found.filter(({ severity }) => severity === 'error')
  return [...errors, ...found.filter(({ severity }) => severity !== 'error')].slice(0, MAX_ISSUES)
}

function frontMatterIssues({ fragment }: ParsedText, config: Config, budget: Budget): Placed[] {
  const found = firstOf([...settingIssues(config, budget), ...parameterWarnings(config)])
  const node = fragment.children.find((child) => child.type === 'Config')
  if (found.length === 0 || node?.type !== 'Config') return []
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
    const issues = settingIssues(literalSettings(node), budget)
    const places = new Map(issues.length === 0 ? [] : node.attributes.map((attribute) => [attribute.name, attribute]))
    for (const { at, ...issue } of issues) {
      const { start, end } = places.get(String(at[0])) ?? node
      found.push({ ...issue, start, end })
    }
  }
  return found
}

function literalSettings({ attributes }: Tag): Record<string, unknown> {
  const settings = attributes.flatMap((attribute): [string, unknown][] => {
    const { name, value } = attribute
    // Empty text counts as no value.
    const given = value === true || literalText(attribute)
    return given && !STEP_KEYS.has(name) ? [[name, given]] : []
  })
  return Object.fromEntries(settings)
}

function settingIssues(config: Config, budget: Budget): Found[] {
  const found: Found[] = []
  readConfig(config, ({ message, at, feature }) => {
    found.push({ severity: 'error', code: feature ? 'unsupported-feature' : 'invalid-setting', message, at })
  })
  for (const [key, value] of Object.entries(config)) {
    if (value === undefined || value === null) continue
    const [lowest, highest] = usualRange(key) ?? []
    if (Number(value) < Number(lowest) || Number(value) > Number(highest)) {
      found.push(warning('unusual-value', `\`${key}\` is usually from ${lowest} to ${highest}`, [key]))
    }
    if (knownKeys.has(key)) continue
    budget.comparedKeys -= 1
    const near = budget.comparedKeys < 0 ? undefined : nearKey(key)
    if (near === undefined) continue
    const message = `Did you mean \`${near}\`? The provider gets \`${key}\` as it is; write it under \`providerOptions\` if it is meant`
    found.push(warning('unknown-key', message, [key]))
  }
  return found
}

function warning(code: string, message: string, at: Found['at']): Found {
  return { severity: 'warning', code, message, at }
}

/** A run ignores unknown types. */
function parameterWarnings({ parameters }: Config): Found[] {
  const found: Found[] = []
  for (const [name, declared] of Object.entries(isObject(parameters) ? parameters : {})) {
    const type = isObject(declared) ? declared['type'] : declared
    if (typeof type !== 'string' || PARAMETER_TYPES.has(type)) continue
    const message = `\`${type}\` is not a parameter type; its values stay unchanged`
    // Without a map of its own, the range is that of the name.
    found.push(warning('unknown-type', message, ['parameters', name, 'type']))
  }
  return found
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
  const start = fragment.children.find(({ type }) => type === 'Config')?.end ?? 0
  const message = 'The prompt has no messages, so a run needs messages from its caller'
  return { severity: 'warning', code: 'no-messages', message, start, end: start }
}
