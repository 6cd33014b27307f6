/** Prompts of which each does one kind of work many times, so that its cost and its fuel can be compared. */
import { METHODS_OF } from '../src/evaluate/methods/methods.ts'
import type { Meter } from '../src/evaluate/values/fuel.ts'
import { BINARY_OPERATORS } from '../src/evaluate/values/operators.ts'
import type { CompileIssueError, compilePrompt, RenderedMessage, renderStep } from '../src/index.ts'
import { attacks, each, inBlocks, parameters, thousand } from './attacks.ts'
import { now, sourceOf } from './support.ts'

export interface FuelRow {
  content: string
  answer?: string
  /** Work that comes late needs all fuel. */
  isLate?: true
}

/** The receivers of methods, by kind and size. */
const RECEIVERS: Readonly<Record<keyof typeof METHODS_OF, readonly string[]>> = {
  text: ['"ab"', 'text', 's'],
  number: ['a', '1234567.891'],
  boolean: ['true'],
  date: ['$now'],
  list: ['[1, 2]', 'list', 'lists', 'texts'],
  object: ['{ a: 1 }', 'wideObject'],
}

const ARGUMENTS = new Map(
  Object.entries({
    includes: '"none", 1',
    indexOf: '"none"',
    lastIndexOf: '"none"',
    startsWith: '"none"',
    endsWith: '"none"',
    slice: '1, 40000',
    substring: '1, 40000',
    substr: '1, 40000',
    split: '"b"',
    replace: '"b", "[$&]"',
    replaceAll: '"b", "[$&]"',
    concat: 'text, text',
    charAt: '7',
    at: '7',
    join: '"-"',
    flat: '2',
    push: '1, 2, 3',
    unshift: '1, 2, 3',
    hasOwnProperty: 'text',
    toString: '',
    toFixed: '2',
    toPrecision: '3',
  }),
)

export const rowParameters: Record<string, unknown> = {
  ...parameters,
  text: 'ab'.repeat(2_000),
  lists: thousand.map((each) => [each, [each]]),
  texts: thousand.map((each) => `the text of number ${each}`),
  wideObject: Object.fromEntries(thousand.map((each) => [`the key of number ${each}`, each])),
  file: { __promptlType: 'file', isImage: false, url: 'https://host.example/x.pdf', mimeType: 'application/pdf' },
  lines: '\n    line'.repeat(1_000),
  long: `${'ab'.repeat(20)}c`,
  schema: { type: 'object' },
}

const methodRows = Object.entries(METHODS_OF).flatMap(([kind, methods]) =>
  Object.keys(methods).flatMap((method) =>
    RECEIVERS[kind as keyof typeof METHODS_OF].map((self): [string, FuelRow] => {
      const call = `(${self}).${method}(${ARGUMENTS.get(method) ?? ''})`
      return [`${self}.${method}`, { content: each(`{{ x = ${call} }}`) }]
    }),
  ),
)

const operatorRows = [...BINARY_OPERATORS.keys()].flatMap((operator) =>
  ['a %', 's % s', 's % 1', 'list % list'].map((operands): [string, FuelRow] => {
    const expression = operands.includes(' % ') ? operands.replace('%', operator) : `a ${operator} a`
    return [expression, { content: each(`{{ x = ${expression} }}`) }]
  }),
)

const manyKeys = (name: string): string => thousand.map((at) => `${name}${at}: a`).join(', ')

const ownRows: Readonly<Record<string, FuelRow | string>> = {
  text: each('text '),
  'an empty block': each('{{ if a }}{{ endif }}'),
  'an empty loop': each('{{ for b in list }}{{ endfor }}'),
  'a loop over a text': each('{{ for c in text }}{{ endfor }}'),
  'a name': each('{{ x = [a, a, a, a, a, a, a, a] }}'),
  'a name in blocks': inBlocks(190, each('{{ x = [a, s, s, s, s, s, s] }}')),
  'a name that is set in blocks': inBlocks(190, each('{{ none = 1 }}')),
  'a missing name': each('{{ x = [none, none, none] }}'),
  'a list': each(`{{ x = [${'1,'.repeat(500)}] }}`),
  'an object': each(
    `{{ x = { ${manyKeys('k')
      .slice(0, 4_000)
      .replace(/,[^,]*$/, '')} } }}`,
  ),
  'a spread list': each('{{ x = [...list, ...list] }}'),
  'a spread text': each('{{ x = [...text] }}'),
  'a spread object': each('{{ x = { ...wideObject } }}'),
  'a clock': each('{{ x = [$now, $now, $now] }}'),
  'a member': each('{{ x = wideObject.a }}'),
  'a computed member': each('{{ x = wideObject[text] }}'),
  'a character': each('{{ x = s[3] }}'),
  'an item': each('{{ x = list[a] }}'),
  'a set member': `{{ o = { b: 1 } }}${each('{{ o.a = a }}{{ o.b += 1 }}')}`,
  'a condition': each('{{ x = a ? b : s }}'),
  '&& || ??': each('{{ x = (a && s || none) ?? a }}'),
  'a unary minus': each('{{ x = -s }}'),
  typeof: each('{{ x = typeof s }}'),
  '++': each('{{ n = a }}{{ n++ }}'),
  '+=': each('{{ x = "" }}{{ x += text }}'),
  'an optional chain': each('{{ x = none?.a.b.c }}'),
  'a printed number': each('{{ a }}'),
  'a printed text': each('{{ text }}'),
  'a printed date': each('{{ $now }}'),
  'a printed object': each('{{ wideObject }}'),
  'a printed list': each('{{ texts }}'),
  'a printed file': each('{{ file }}'),
  'printed files': each('{{ [file, file, file] }}'),
  'a file in content': each('<content-text>{{ file }}</content-text>'),
  'a file whose source is an object': each('{{ { ...file, url: wideObject } }}'),
  'a message': each('<user>x</user>'),
  'a message of lines': each('<user>{{ lines }}</user>'),
  'a message with attributes': each('<user a="1" b={{ a }} c="{{ a }}{{ s.length }}">x</user>'),
  'a message with a list': each('<user a={{ texts }}>x</user>'),
  'a message with an object': each('<user a={{ wideObject }}>x</user>'),
  'a message with a text': each('<user a={{ text }}>x</user>'),
  'a tool message': each('<tool id={{ list }} name={{ text }}>x</tool>'),
  'a tool call': each('<assistant><tool-call id="1" name="f" arguments={{ wideObject }} /></assistant>'),
  'a tool call with text': each(
    `<assistant><tool-call id="1" name="f" arguments='{"a":[1,2,3,4,5,6,7]}' /></assistant>`,
  ),
  content: each('<content-image>{{ text }}</content-image>'),
  scope: each('<scope a={{ a }}>{{ a }}</scope>'),
  steps: {
    content: `{{ for a in [1, 2, 3] }}<step as="x" raw="y">x</step>{{ x }}{{ endfor }}`,
    answer: 'an answer '.repeat(9_000),
  },
  'steps with JSON': { content: '<step as="x" schema={{ schema }}>x</step>{{ x }}', answer: JSON.stringify(thousand) },
  'steps with a list': '{{ x = wide.slice(0, 50000) }}<step>x</step>x',
  'steps with objects': '{{ x = [objects[1], { ...wideObject }] }}<step>x</step>x',
  'steps with a text': '{{ x = s + "x" }}<step>x</step>x',
  'steps with parts of parameters': { content: '{{ x = objects[19000] }}<step>x</step>x', isLate: true },
  'steps with many variables': `<scope ${thousand.map((at) => `v${at}`).join(' ')}><step>x</step></scope>x`,
  'steps that change parameters': '{{ objects.pop() }}<step>x</step>x',
  'steps in loops': '{{ for t in texts.slice(0, 20) }}<step>{{ t }}</step>{{ endfor }}',
  'steps with dates': '{{ x = [$now, $now] }}<step>x</step>x',
  'a short search': each('{{ x = text.includes("ba b") }}'),
  'a search for a long pattern': each('{{ x = s.indexOf(long) }}'),
  'a backward search for a long pattern': each('{{ x = text.lastIndexOf(long) }}'),
  'a split by a long pattern': each('{{ x = (long + long + long).split(long) }}'),
  'a split into characters': each('{{ x = text.split("") }}'),
  'a replacement of the text before': each('{{ x = text.replaceAll("ba", "$`") }}').replace('list', '[1, 2, 3]'),
  'a long replacement': each('{{ x = text.replace("b", s) }}'),
  'case in a language': each('{{ x = text.toLocaleUpperCase("tr") }}'),
  'case in languages': each('{{ x = "a".toLocaleLowerCase(["tr", "de"]) }}'),
  'a number in a language': each('{{ x = a.toLocaleString("de", { style: "percent" }) }}'),
  'a date in a language': each('{{ x = $now.toLocaleString("de", { dateStyle: "full" }) }}'),
  'a list in a language': '{{ x = [1, 2, 3].toLocaleString("de") }}',
  'options of objects': each('{{ x = a.toLocaleString("de", { style: ["percent"] }) }}'),
  'a joined list of lists': each('{{ x = lists.join() }}'),
  'a joined list of objects': each('{{ x = objects.slice(0, 1000).join() }}'),
  'a too long list': { content: `{{ t = [${'s,'.repeat(50)}] }}{{ x = t.join() }}`, isLate: true },
  'a too long text': { content: `{{ t = huge + huge + huge }}`, isLate: true },
  'too much in place of a text': { content: '{{ x = s.replaceAll("", s) }}', isLate: true },
}

export const fuelRows: Readonly<Record<string, FuelRow>> = Object.fromEntries([
  ...Object.entries(attacks).map(([name, content]): [string, FuelRow] => [`attack: ${name}`, { content }]),
  ...methodRows,
  ...operatorRows,
  ...Object.entries(ownRows).map(([name, row]) => [name, typeof row === 'string' ? { content: row } : row]),
])

export interface Engine {
  compilePrompt: typeof compilePrompt
  renderStep: typeof renderStep
}

/** Runs the steps of a row, each with a meter of `meterOf`. Returns how the row ended. */
export function runRow({ compilePrompt, renderStep }: Engine, row: FuelRow, meterOf: () => Meter): string {
  const { content, answer = 'ok' } = row
  const prompt = compilePrompt(sourceOf(content))
  if (prompt.issues[0]) throw new Error(`${content.slice(0, 200)}: ${prompt.issues[0].message}`)
  const answered: RenderedMessage[] = [{ role: 'assistant', content: [{ type: 'text', text: answer }] }]
  const parameters = rowParameters
  try {
    let step = renderStep(prompt, { parameters, now }, undefined, meterOf())
    for (let steps = 0; !step.done && step.state.machine && steps < 5; steps += 1) {
      const state = JSON.parse(JSON.stringify(step.state)) as typeof step.state
      step = renderStep(prompt, { parameters, now, state, answer: answered }, undefined, meterOf())
    }
    return 'done'
  } catch (error) {
    const { issue } = error as Partial<CompileIssueError>
    if (issue) return issue.code
    throw error
  }
}
