/**
 * Renders deploy/helm without Helm, which is not an npm package. It has only the functions that the chart uses; an
 * unknown one is an error, so the chart cannot outgrow it unnoticed.
 */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse, stringify } from 'yaml'
import { type Expression, type Node, parseTemplate } from './parse-template.ts'

type Scope = Readonly<Record<string, unknown>>
type Templates = Map<string, Node[]>

/** @param overrides values as of `helm --set`, nested. @returns the text of each manifest by the name of its template */
export function renderChart(chart: string, release: string, overrides: Scope): Map<string, string> {
  const read = (name: string): Scope => parse(readFileSync(join(chart, name), 'utf8'))
  const metadata = read('Chart.yaml')
  const root = {
    Values: merge(read('values.yaml'), overrides),
    Release: { Name: release, Service: 'Helm' },
    Chart: { Name: metadata['name'], AppVersion: metadata['appVersion'] },
  }
  const folder = join(chart, 'templates')
  const files = readdirSync(folder).sort()
  const parsed = files.map((file) => [file, parseTemplate(readFileSync(join(folder, file), 'utf8'))] as const)
  const templates: Templates = new Map()
  for (const [, nodes] of parsed)
    for (const node of nodes) if (node.kind === 'define') templates.set(node.name, node.body)
  const manifests = parsed.filter(([file]) => file.endsWith('.yaml'))
  return new Map(manifests.map(([file, nodes]) => [file, render(nodes, { '.': root, $: root }, templates)]))
}

function merge(values: Scope, overrides: Scope): Scope {
  const merged: Record<string, unknown> = { ...values }
  for (const [key, value] of Object.entries(overrides))
    merged[key] = isMap(value) && isMap(values[key]) ? merge(values[key], value) : value
  return merged
}

function isMap(value: unknown): value is Scope {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function render(nodes: readonly Node[], scope: Scope, templates: Templates): string {
  return nodes.map((node) => renderNode(node, scope, templates)).join('')
}

function renderNode(node: Node, scope: Scope, templates: Templates): string {
  switch (node.kind) {
    case 'text':
      return node.text
    case 'define':
      return ''
    case 'output':
      return String(evaluate(node.value, scope, templates))
    case 'if':
      return render(isTrue(evaluate(node.condition, scope, templates)) ? node.then : node.otherwise, scope, templates)
    case 'range': {
      const map = evaluate(node.over, scope, templates)
      if (!isMap(map)) throw new Error('range needs a map')
      const keys = Object.keys(map).sort()
      return keys
        .map((key) => render(node.body, { ...scope, [node.key]: key, [node.value]: map[key] }, templates))
        .join('')
    }
  }
}

function evaluate(expression: Expression, scope: Scope, templates: Templates): unknown {
  if (expression.kind === 'literal') return expression.value
  if (expression.kind === 'path') {
    return expression.keys.reduce((value, key) => {
      if (!isMap(value) || !(key in value)) throw new Error(`.${expression.keys.join('.')} has no value`)
      return value[key]
    }, scope[expression.from])
  }
  const args = expression.args.map((each) => evaluate(each, scope, templates))
  if (expression.name === 'include') {
    const body = templates.get(String(args[0]))
    if (body === undefined) throw new Error(`no template is named ${args[0]}`)
    return render(body, { '.': args[1], $: args[1] }, templates)
  }
  const call = FUNCTIONS[expression.name]
  if (call === undefined) throw new Error(`the function ${expression.name} is not supported`)
  return call(...args)
}

/** As Go sees it: zero values and empty collections are false. */
function isTrue(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0
  return isMap(value) ? Object.keys(value).length > 0 : Boolean(value)
}

const FUNCTIONS: Readonly<Record<string, (...args: unknown[]) => unknown>> = {
  and: (...args) => args.find((each) => !isTrue(each)) ?? args.at(-1),
  or: (...args) => args.find(isTrue) ?? args.at(-1),
  not: (value) => !isTrue(value),
  eq: (left, right) => left === right,
  ne: (left, right) => left !== right,
  default: (fallback, value) => (isTrue(value) ? value : fallback),
  int: (value) => Math.trunc(Number(value)),
  add: (...args) => args.reduce<number>((sum, each) => sum + Number(each), 0),
  div: (left, right) => Math.trunc(Number(left) / Number(right)),
  quote: (value) => JSON.stringify(String(value)),
  printf: (format, ...args) => String(format).replaceAll('%s', () => String(args.shift())),
  trunc: (length, text) => String(text).slice(0, Number(length)),
  trimSuffix: (suffix, text) =>
    String(text).endsWith(String(suffix)) ? String(text).slice(0, -String(suffix).length) : text,
  nindent: (width, text) => `\n${String(text).replaceAll(/^/gm, ' '.repeat(Number(width)))}`,
  sha256sum: (text) => createHash('sha256').update(String(text)).digest('hex'),
  toYaml: (value) => stringify(value, { sortMapEntries: true }).trimEnd(),
  fail: (message) => {
    throw new Error(String(message))
  },
}
