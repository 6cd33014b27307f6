import {
  type Completion,
  type CompletionContext,
  type CompletionResult,
  snippetCompletion,
} from '@codemirror/autocomplete'
import type { Provider } from '@stet/sdk'
import { frontMatterOf } from './text/front-matter.ts'
import { loadYaml } from './text/load-yaml.ts'
import { namesOf } from './text/scan.ts'

/** The names and values for completions, as far as they are loaded. */
export interface CompletionFacts {
  /** The parameters of the last saved text. */
  parameters: readonly string[]
  providers: readonly Provider[]
  paths: readonly string[]
}

const keys: Record<string, string> = {
  provider: 'name of a configured provider',
  model: 'the provider’s name for the model',
  temperature: 'sampling, 0 to 2',
  topP: 'sampling, 0 to 1',
  topK: 'sampling',
  maxTokens: 'limit of the output',
  stop: 'texts that end the output',
  seed: 'sampling',
  presencePenalty: 'sampling',
  frequencyPenalty: 'sampling',
  maxSteps: 'model calls per step, 1 to 150',
  maxRetries: 'before the first byte, 0 to 10',
  type: 'prompt or agent',
  name: 'as a tool of another prompt',
  description: 'as a tool of another prompt',
  parameters: 'declared inputs',
  tools: 'tools of the model',
  agents: 'prompts offered as tools',
  schema: 'JSON Schema of the output',
  validate: 'false: the output is not checked',
  reasoningEffort: 'low, medium or high',
}

const booleans = ['true', 'false']
const parameterTypes = ['text', 'number', 'integer', 'boolean', 'object', 'array', 'image', 'file']
const schemaTypes = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null']

/** The values of a key, by the keys from the outermost map inward. */
const values: readonly [RegExp, readonly string[]][] = [
  [/^type$/, ['prompt', 'agent']],
  [/^validate$|^parameters \S+ required$/, booleans],
  [/^reasoningEffort$/, ['low', 'medium', 'high']],
  [/^parameters \S+( type)?$/, parameterTypes],
  [/^(schema|tools .*parameters) (.* )?type$/, schemaTypes],
]

const tagNames = [
  'system',
  'user',
  'assistant',
  'message',
  'tool',
  'tool-call',
  'step',
  'scope',
  'content-text',
  'content-image',
  'content-file',
]

const tagCompletions: Completion[] = [
  ...tagNames.map((name) => snippetCompletion(`<${name}>\${}</${name}>`, { label: `<${name}>`, type: 'type' })),
  snippetCompletion('<prompt path="${}" />', { label: '<prompt>', type: 'type', detail: 'reference' }),
]

/** @param space between the braces and the first word, unless it is there already */
const blocks = (space: '' | ' '): Completion[] => [
  snippetCompletion(`${space}if \${condition} }}\${}{{ endif }}`, { label: 'if', type: 'keyword' }),
  snippetCompletion(`${space}for \${item} in \${list} }}\${}{{ endfor }}`, { label: 'for', type: 'keyword' }),
  ...['else', 'else if', 'endif', 'endfor'].map((label) => ({ label, type: 'keyword' })),
  { label: '$now', type: 'constant', detail: 'time of the run' },
]

/** The source of completions for a prompt. */
export function completePromptl(facts: () => CompletionFacts) {
  return (context: CompletionContext): CompletionResult | Promise<CompletionResult | null> | null => {
    const text = context.state.doc.toString()
    const area = frontMatterOf(text)
    const line = context.state.doc.lineAt(context.pos)
    const before = line.text.slice(0, context.pos - line.from)
    const isInArea = area && context.pos >= area.from && context.pos <= area.to
    const known = { text, facts: facts() }
    // Front matter without an end may reach into the body.
    return (isInArea ? inFrontMatter(context, before, known) : null) ?? inBody(context, before, known)
  }
}

interface Known {
  text: string
  facts: CompletionFacts
}

function inFrontMatter(context: CompletionContext, before: string, known: Known) {
  const key = /^[\w-]*$/.exec(before)
  if (key && (key[0] || context.explicit))
    return {
      from: context.pos - key[0].length,
      options: Object.entries(keys).map(([label, detail]) => ({
        label,
        detail,
        apply: `${label}: `,
        type: 'property',
      })),
      validFor: /^[\w-]*$/,
    }
  const typed = /:[ \t]*["']?([^\s"',{}]*)$/.exec(before)?.[1]
  return typed === undefined ? null : valueAt(context, context.pos - typed.length, known)
}

async function valueAt({ pos }: CompletionContext, from: number, { text, facts: { providers } }: Known) {
  const { keysAt, scalarOf } = await loadYaml()
  const path = keysAt(text, pos).join(' ')
  const options =
    path === 'provider'
      ? providers.map(({ name, provider, isDemo }) => ({ label: name, detail: isDemo ? 'demo' : provider }))
      : path === 'model'
        ? modelsOf(scalarOf(text, 'provider'), providers)
        : (values.find(([at]) => at.test(path))?.[1] ?? []).map((label) => ({ label, type: 'constant' }))
  return options.length === 0 ? null : { from, options, validFor: /^[^\s"',{}]*$/ }
}

/** The models of the named provider, or of all if it is not configured, in the order of their list. */
function modelsOf(name: string | null, providers: readonly Provider[]): Completion[] {
  const chosen = providers.filter((provider) => provider.name.toLowerCase() === name?.toLowerCase())
  const models = (chosen.length > 0 ? chosen : providers).flatMap((provider) =>
    provider.models.map((model) => ({ ...model, provider: provider.name })),
  )
  return models.map(({ id, deprecated, provider }, at) => ({
    label: id,
    detail: deprecated ? `${provider}, deprecated` : provider,
    sortText: String(at).padStart(5, '0'),
    // Also behind those that the typed letters fit less well.
    ...(deprecated && { boost: -99 }),
  }))
}

function inBody(context: CompletionContext, before: string, { text, facts }: Known): CompletionResult | null {
  const path = /<prompt\b[^>]*\bpath\s*=\s*["']([^"']*)$/.exec(before)
  if (path)
    return {
      from: context.pos - (path[1]?.length ?? 0),
      // A path without a leading slash is relative to the folder.
      options: facts.paths.map((one) => ({ label: `/${one}`, type: 'text' })),
      validFor: /^[^"']*$/,
    }
  const code = /\{\{[^}]*?([\w$]*)$/.exec(before)
  if (code) {
    const typed = code[1] ?? ''
    if (/["'.]$/.test(before.slice(0, before.length - typed.length))) return null
    const space = before.endsWith('{{', before.length - typed.length) ? ' ' : ''
    const names = [...new Set([...facts.parameters, ...namesOf(text)])].filter((name) => name !== typed)
    return {
      from: context.pos - typed.length,
      options: [...names.map((label) => ({ label, type: 'variable', boost: 1 })), ...blocks(space)],
      validFor: /^[\w$]*$/,
    }
  }
  const tag = /<\/?[\w-]*$/.exec(before)
  if (!tag) return null
  const from = context.pos - tag[0].length
  if (!tag[0].startsWith('</')) return { from, options: tagCompletions, validFor: /^<[\w-]*$/ }
  return { from, options: tagNames.map((name) => ({ label: `</${name}>`, type: 'type' })), validFor: /^<\/[\w-]*$/ }
}
