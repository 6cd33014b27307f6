import { escapeText, print } from './prompt-text.ts'

/** The variables of one prompt. `sources` maps stet's names to the other tool's. */
export interface Naming {
  sources: Map<string, string>
  losses: string[]
}

/** Syntax that another tool accepts for a variable between `{{` and `}}`. */
export interface VariableRule {
  tool: string
  name: RegExp
  /** Completes "… is not a variable in <tool> and stays as text: ". */
  hint: string
}

/** For tools that do not restrict names: words, with spaces, dots and dashes between them. */
export function looseRule(tool: string): VariableRule {
  return { tool, name: /^[\p{L}\p{N}_$][\p{L}\p{M}\p{N}_$ .-]*$/u, hint: 'it is not a name' }
}

const braces = /\{\{([^{}]*)\}\}/g

/**
 * Converts `{{ name }}` as in Langfuse and OpenAI. Escapes all other text, and reports text in braces that looks like a
 * variable but is none. Quoted text in braces is JSON and not reported.
 */
export function convertPlaceholders(text: string, rule: VariableRule, naming: Naming): string {
  let converted = ''
  let done = 0
  for (const match of text.matchAll(braces)) {
    const [source, inner = ''] = match
    const name = inner.trim()
    if (!rule.name.test(name)) {
      if (!/^(?:["']|$)/.test(name)) {
        note(naming, `${source} is not a variable in ${rule.tool} and stays as text: ${rule.hint}`)
      }
      continue
    }
    const end = match.index + source.length
    noteOuterBraces(text, match.index, end, rule, naming)
    converted += escapeText(text.slice(done, match.index)) + print(variableName(name, naming))
    done = end
  }
  return converted + escapeText(text.slice(done))
}

function noteOuterBraces(text: string, start: number, end: number, { tool }: VariableRule, naming: Naming): void {
  let outer = 0
  while (text[start - outer - 1] === '{' && text[end + outer] === '}') outer += 1
  if (outer === 0) return
  const source = text.slice(start - outer, end + outer)
  note(
    naming,
    `${source} keeps its outer braces, as in ${tool}: write ${text.slice(start, end)} if your code expects the value alone`,
  )
}

const reservedNames = new Set(
  `constructor toString valueOf hasOwnProperty isPrototypeOf propertyIsEnumerable toLocaleString undefined null true false this
  if else for in endif endfor new function typeof void delete return var let const class import export default switch case while do
  break continue await yield enum super extends static implements interface package private protected public instanceof throw try
  catch finally with debugger arguments eval`.split(/\s+/),
)

/** Returns a name that stet's language accepts. Reports new names, and names that two variables share. */
export function variableName(name: string, naming: Naming): string {
  let variable = name
    .normalize('NFC')
    .replaceAll(/[^\p{ID_Continue}$]/gu, '_')
    .replace(/^(?![\p{ID_Start}$_])/u, '_')
    .replace(/^__+/, '_')
  if (reservedNames.has(variable)) variable = `${variable}Value`
  const known = naming.sources.get(variable)
  if (known === undefined) naming.sources.set(variable, name)
  if (variable !== name) note(naming, `The variable "${name}" is now named "${variable}"`)
  if (known !== undefined && known !== name) {
    note(
      naming,
      `The variables "${known}" and "${name}" are now both named "${variable}": rename one, and import again`,
    )
  }
  return variable
}

function note({ losses }: Naming, loss: string): void {
  if (!losses.includes(loss)) losses.push(loss)
}
