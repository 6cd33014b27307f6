import * as parser from '@handlebars/parser'
import { Dotprompt } from 'dotprompt'
import { expect, test } from 'vitest'
import { frontOf, importFrom, renderParts } from './support/imported.ts'

const data = {
  name: 'Ana',
  'odd name': 'odd',
  format: 'short',
  count: 0,
  yes: true,
  no: false,
  empty: [],
  blank: '',
  tags: ['a', 'b', 'c'],
  orders: [
    { title: 'pen', shop: { city: 'Rome' }, lines: ['x', 'y'], 'a b': 1 },
    { title: 'ink', lines: [], 'a b': 2 },
  ],
  user: { name: 'Bob', tags: ['u'], deep: { er: 'd' } },
  key: 'name',
  url: 'https://example.com/a',
}

const schema = `input:
  schema:
    name: string
    count: integer
    yes: boolean
    no: boolean
    empty(array): string
    tags(array): string
    user: { name: string, tags(array): string, deep: { er: string } }
    orders(array): { title: string, lines(array): string }
`

const partials: Record<string, string> = {
  sign: 'Yours, {{name}}',
  row: '- {{this}}',
  title: '{{title}} ({{from}})',
  'common/footer': 'Bye, {{name}}{{> sign}}\n',
  loop: '{{name}}{{> loop}}',
}

/** Renders with the reference. Parts become their text or URL. */
async function expected(source: string): Promise<{ role: string; text: string }[]> {
  const { messages } = await new Dotprompt({ partials }).render(source, { input: data })
  return messages.map(({ role, content }) => ({
    role: role === 'model' ? 'assistant' : role,
    text: textOf(content.map((part) => ('text' in part ? part.text : 'media' in part ? part.media.url : ''))),
  }))
}

/** Parts are joined with line ends, as for a provider that takes one text. White space around a part has no meaning. */
function textOf(parts: readonly unknown[]): string {
  return parts
    .map((part) => String(part).trim())
    .filter((part) => part !== '')
    .join('\n')
}

async function rendered(content: string, documents: Record<string, string>) {
  const messages = await renderParts(content, { ...data, odd_name: data['odd name'] }, documents)
  return messages.map(({ role, content }) => ({
    role,
    text: textOf(content.map((part) => part['text'] ?? part['image'] ?? part['file'])),
  }))
}

// `true`: renders equally. A text: the report contains it.
/** Without a schema, nothing shows that this is not a text. The documentation says so. */
const needSchema = new Set(['{{tags}}'])

const constructs: [source: string, outcome: true | string][] = [
  // Values
  ['{{name}} {{{name}}} {{&name}} {{ name }} {{./name}} {{this.name}} {{this/name}} {{missing}}', true],
  ['{{format}} {{user.name}} {{user/name}} {{user.deep.er}} {{user.no.where}} {{nobody.name}}', true],
  ['{{[odd name]}} {{user.[name]}} {{tags.[1]}} {{tags.length}} {{name.length}}', true],
  ['{{count}} {{yes}} {{no}}', true],
  ['{{this}}', '{{this}}'],
  ['{{.}}', '{{.}}'],
  ['{{tags}}', '{{tags}} prints as JSON'],
  ['{{"name"}}', '{{"name"}}'],
  ['{{@root.name}} {{@root.user.name}}', true],
  ['{{@root}}', '{{@root}}'],
  ['{{@index}}', '{{@index}}'],
  ['{{../name}}', '{{../name}}'],
  ['{{lookup user key}} {{lookup user "name"}} {{lookup tags 1}} {{lookup none key}}', true],
  ['{{lookup (lookup orders 0) "title"}}', true],
  ['{{log name level="debug"}}x', true],
  ['{{#if true}}1{{/if}}{{#if null}}2{{/if}}{{#if undefined}}3{{/if}}{{#if 0}}4{{/if}}{{#if "a"}}5{{/if}}', true],
  // White space
  ['a\n\n\n  b\tc  d\n   {{name}}\n\te', true],
  ['a  {{~name~}}  b\n\n{{~name}}', true],
  ['{{#if yes~}}  a  {{~else~}} b {{~/if}} c', true],
  ['x\n{{#if yes}}\n  a\n{{else}}\n  b\n{{/if}}\ny', true],
  ['x {{#if yes}} a {{/if}} y {{#if no}} a {{else}} b {{/if}} z', true],
  ['x\n{{! gone }}\ny {{!-- {{name}} --}} z', true],
  // Text that is no tag
  ['\\{{name}} \\\\{{name}} { {x} }} } <user>a</user> /* b */ \\n --- {{! }} c', true],
  ['"{" {{name}} } {{name}}\n}}', true],
  ['{ {{#if yes}} {\n{{/if}}{ {{name}}{ { {{#if no}}{{else}} }} } {{/if}} }} } {{name}} }}', true],
  ['{{name', 'not a Handlebars template, line'],
  ["{{it's}}", 'not a Handlebars template, line'],
  ['{{#if yes}}a', 'not a Handlebars template, line'],
  // Conditions
  ['{{#if yes}}1{{/if}}{{#if no}}2{{/if}}{{#if count}}3{{/if}}{{#if blank}}4{{/if}}{{#if name}}5{{/if}}', true],
  ['{{#if empty}}1{{else}}2{{/if}}{{#if tags}}3{{/if}}{{#if missing}}4{{/if}}{{#if user}}5{{/if}}', true],
  ['{{#if count includeZero=true}}1{{else}}2{{/if}}{{#unless count includeZero=true}}3{{/unless}}', true],
  ['{{#if count includeZero=false}}1{{else}}2{{/if}}{{#unless tags includeZero=false}}3{{else}}4{{/unless}}', true],
  ['{{#if count includeZero=no}}1{{/if}}', '{{#if count includeZero=no}}'],
  ['{{#unless empty}}1{{else}}2{{/unless}}{{#unless tags}}3{{/unless}}{{#unless no}}4{{/unless}}', true],
  ['{{#if no}}1{{else if tags}}2{{else}}3{{/if}} {{#if no}}1{{else if no}}2{{else if yes}}3{{else}}4{{/if}}', true],
  ['{{#if no}}1{{else unless no}}2{{/if}} {{#if no}}1{{else each tags}}{{this}}{{/if}}', true],
  ['{{#if user.tags}}1{{/if}}{{#if nobody.tags}}2{{/if}}{{#if yes}}{{^}}3{{/if}}', true],
  ['{{^no}}1{{/no}}{{^yes}}2{{/yes}}{{^empty}}3{{/empty}}{{^count}}4{{/count}}{{^missing}}5{{/missing}}', true],
  ['{{#ifEquals name "Ana"}}1{{else}}2{{/ifEquals}}{{#ifEquals count "0"}}3{{else}}4{{/ifEquals}}', true],
  ['{{#unlessEquals name "a }} b"}}1{{/unlessEquals}}{{#unlessEquals count 0}}2{{/unlessEquals}}', true],
  ['{{#if (lookup user "name")}}1{{/if}}', true],
  ['{{#if (eq name "Ana")}}1{{/if}}', '{{#if (eq name "Ana")}}'],
  ['{{#yes}}1{{/yes}}', '{{#yes}}1{{/yes}}'],
  ['{{#tags}}{{this}}{{/tags}}', '{{#tags}}'],
  // Loops
  ['{{#each tags}}{{this}}{{.}}{{@index}}{{/each}} {{#each empty}}a{{else}}none{{/each}}', true],
  ['{{#each tags}}\n- {{this}}\n{{/each}}\nend', true],
  [
    'list:\n{{#each orders}}\n  {{title}}:\n  {{#each lines}}\n    * {{this}}\n  {{else}}\n    none\n  {{/each}}\n{{/each}}\nend',
    true,
  ],
  [
    '{{#each tags}} {{this}}, {{/each}} and {{#each tags}}{{#if @first}}[{{/if}}{{this}}{{#if @last}}]{{else}}, {{/if}}{{/each}}',
    true,
  ],
  ['{{#each tags}}{{@first}} {{@last}}{{#unless @last}};{{/unless}}{{/each}}', true],
  ['{{#each orders}}{{title}} {{this.title}} {{shop.city}} {{[a b]}} {{../name}} {{@root.name}}{{/each}}', true],
  ['{{#each orders}}{{#each lines}}{{this}}{{../title}}{{../../name}}{{@../index}}{{@index}}{{/each}}{{/each}}', true],
  [
    '{{#each orders as |order at|}}{{order.title}}{{at}}{{title}}{{#each order.lines as |line|}}{{line}}{{order.title}}{{/each}}{{/each}}',
    true,
  ],
  ['{{#each tags as |name|}}{{name}}{{../name}}{{@root.name}}{{/each}}{{name}}', true],
  ['{{#each tags as |tag|}}{{#each ../tags as |tag|}}{{tag}}{{/each}}{{tag}}{{/each}}', true],
  ['{{#each tags}}{{#each ../orders}}{{title}}{{/each}}{{this}}{{/each}}', true],
  ['{{#each user}}{{this}}{{/each}}', '{{#each user}}'],
  ['{{#each nobody}}{{@key}}{{/each}}', '{{@key}}'],
  ['{{#each "abc"}}{{this}}{{/each}}', '{{#each "abc"}}'],
  [
    '{{#with user}}{{name}} {{../name}} {{#each tags}}{{this}}{{../name}}{{/each}}{{else}}x{{/with}}{{#with none}}a{{else}}b{{/with}}',
    true,
  ],
  ['{{#with user as |u|}}{{u.name}} {{name}}{{/with}}', true],
  // Helpers of dotprompt
  ['{{json tags}} {{json user}} {{json count}} {{#each tags}}{{json @index}}{{/each}}', true],
  ['{{#each tags}}{{json this}}{{/each}}', '{{json this}}'],
  ['{{json name}}', '{{json name}}'],
  ['{{json user indent=2}}', '{{json user indent=2}}'],
  ['{{role "system"}}Be kind.\n{{role "user"}}\nHi {{name}}\n{{role "model"}}Hello', true],
  ['Hi\n{{#if yes}}{{role "model"}}Hello{{/if}}', '{{role "model"}}'],
  ['{{role name}}', '{{role name}}'],
  ['Hi {{history}}Hello', '{{history}}'],
  ['{{section "extra"}}', '{{section "extra"}}'],
  ['Look at {{media url=url}} now {{media url=url contentType="image/png"}}', true],
  ['{{media url=url contentType="application/pdf"}} {{media url="https://example.com/b"}}', true],
  ['{{#each tags}}{{media url=../url}}{{this}} {{/each}}', true],
  ['{{media url=url contentType=name}}', '{{media url=url contentType=name}}'],
  ['{{media name}}', '{{media name}}'],
  // Partials
  ['Hi\n{{> sign}}\nP.S.', true],
  ['{{> sign}}, and {{>sign name="Eve"}} {{> sign user}}!', true],
  ['{{#each tags}}{{> row}};{{/each}}{{#each orders}}\n{{> title from=@root.name}}\n{{/each}}', true],
  ['{{#each tags}}\n{{> row}}\n{{/each}}', true],
  ['{{#each orders}}{{> title from="x"}};{{/each}}', true],
  ['{{> common/footer}} {{> "sign"}} {{> [sign]}}', true],
  ['a\n  {{> sign}}\nb', 'The indentation of {{> sign}}'],
  ['{{#each tags}}\n  {{> row}}\n{{/each}}', 'The indentation of {{> row}}'],
  ['{{> loop}} end', '{{> loop}}'],
  ['{{> (lookup . "key")}}', '{{> (lookup . "key")}}'],
  ['{{#> sign}}else{{/sign}}', '{{#> sign}}'],
  ['{{#*inline "own"}}a{{/inline}}{{> own}}', '{{#*inline "own"}}'],
  ['{{* decorate}}', '{{* decorate}}'],
  // Dotprompt itself refuses these
  ['{{shout name}}', '{{shout name}}'],
  ['{{#repeat 3}}a{{/repeat}}', '{{#repeat 3}}'],
  ['{{{{raw}}}} {{name}} {{{{/raw}}}}', '{{{{raw}}}}'],
  ['{{name key=1}}', '{{name key=1}}'],
  ['{{role}}', '{{role}}'],
]

test('the table contains every kind of node of the grammar', () => {
  const kinds = new Set<string>()
  for (const [source] of constructs.filter(([, outcome]) => !String(outcome).startsWith('not a Handlebars'))) {
    JSON.stringify(parser.parse(source), (key, value) => {
      if (key === 'type') kinds.add(value)
      if (key === 'hash' && value) for (const { type } of [value, ...value.pairs]) kinds.add(type)
      return value
    })
  }
  // Newer syntax of the parser, which the reference does not read.
  for (const kind of ['ArrayLiteral', 'HashLiteral']) kinds.add(kind)
  // Its types lack the visitor, which has a method for each kind.
  const all = Object.getOwnPropertyNames(Reflect.get(parser, 'Visitor').prototype).filter((name) => /^[A-Z]/.test(name))
  expect([...kinds].sort()).toEqual(expect.arrayContaining(all.sort()))
})

test.each([
  ['without a schema', ''],
  ['with a schema', schema],
])('each construct of Handlebars and dotprompt renders like the reference, or is reported: %s', async (_, front) => {
  const head = `---\nmodel: m\n${front}---\n`
  const files: Record<string, string> = {}
  for (const [name, text] of Object.entries(partials)) {
    files[`in/${name.replace(/[^/]*$/, '_$&')}.prompt`] = text
  }
  for (const [at, [source]] of constructs.entries()) files[`in/c${at}.prompt`] = `${head}${source}\n`
  const { read, losses } = await importFrom('dotprompt', files)
  const documents: Record<string, string> = {}
  for (const name of Object.keys(partials)) documents[`support/${name}`] = await read(name)
  const wrong: unknown[] = []
  for (const [at, [source, outcome]] of constructs.entries()) {
    if (front === '' && needSchema.has(source)) continue
    const reported = [...losses(`c${at}`), ...losses(`c${at}.prompt`)].filter(
      (loss) => !/is now named|of the parameter/.test(loss),
    )
    const isReported = typeof outcome === 'string' && reported.some((loss) => loss.includes(outcome))
    if (isReported) continue
    const text = await read(`c${at}`).catch(() => '{{ if')
    const shown = await rendered(text, documents).catch(String)
    const wanted = await expected(`${head}${source}\n`).catch(String)
    const isEqual = JSON.stringify(shown) === JSON.stringify(wanted)
    // Without a schema, a report is expected only where types matter.
    if (isEqual && (reported.length === 0 || !front)) continue
    wrong.push({ source, wanted, shown, reported, text: text.slice(text.indexOf('---\n\n') + 5) })
  }
  expect(wrong).toEqual([])
})

test('the front matter follows a license, blank lines and line ends of Windows', async () => {
  const license = '# Copyright Acme\n#\n\n \t\n'
  const files = {
    'in/a.prompt': `\uFEFF${license}---\nmodel: vendor/m # --- no end\ninput:\n  schema: { name: string }\n---\n\n{{shout}}{{name x=1}}\n`,
    'in/b.prompt': `${license}---\nmodel: m\n---\nHi\n---\nmodel: x\n---\n`.replaceAll('\n', '\r\n'),
    'in/c.prompt': `${license}---\nmodel: [\n---\n`,
    'in/d.prompt': 'Hi\n---\nmodel: m\n---\n',
  }
  const { read, losses } = await importFrom('dotprompt', files)
  expect(frontOf(await read('a'))).toMatchObject({
    provider: 'vendor',
    model: 'm',
    parameters: { name: { type: 'text' } },
  })
  expect(losses('a')).toEqual([expect.stringMatching(/^Line 11: \{\{name x=1\}\} is not supported/)])
  expect(frontOf(await read('b'))).toEqual({ model: 'm' })
  expect(await renderParts(await read('b'), {})).toMatchObject([{ content: [{ text: 'Hi\n---\nmodel: x\n---' }] }])
  expect(losses('c.prompt')).toEqual([expect.stringMatching(/^Skipped: front matter, line 6: /)])
  expect(await renderParts(await read('d'), {})).toMatchObject([{ content: [{ text: 'Hi\n---\nmodel: m\n---' }] }])
})

test('a loop over a value of unknown type is reported once, because it fails for an object', async () => {
  const { losses } = await importFrom('dotprompt', {
    'in/a.prompt': '---\nmodel: m\n---\n{{#each user}}{{this}}{{/each}}\n{{#each user}}{{@index}}{{/each}}',
    'in/b.prompt': `---\nmodel: m\n${schema}---\n{{#each tags}}{{this}}{{/each}}`,
  })
  expect(losses('a')).toEqual([
    'Line 4: {{#each user}} fails in a run if its value is not a list: declare a list in the input schema, or rewrite the loop',
  ])
  expect(losses('b')).not.toContainEqual(expect.stringContaining('fails in a run'))
})

test('partials that include others twice do not multiply without end', async () => {
  const files: Record<string, string> = { 'in/a.prompt': '---\nmodel: m\n---\n{{> p0}} x' }
  for (let at = 0; at < 40; at += 1) files[`in/_p${at}.prompt`] = `{{> p${at + 1}}} and {{> p${at + 1}}} `
  const { losses } = await importFrom('dotprompt', files)
  expect(losses('a').some((loss) => loss.startsWith('In the partial "p3'))).toBe(true)
})

test('a partial and a prompt may have the same name, and a partial keeps the names of properties', async () => {
  const { read, losses } = await importFrom('dotprompt', {
    'in/order.prompt': '---\nmodel: m\n---\n{{#with best}}\n{{> order}}\n{{/with}}',
    'in/_order.prompt': '{{[a b]}} {{in}}',
  })
  const documents = { 'support/order-2': await read('order-2'), 'support/order': await read('order') }
  const parts = await renderParts(await read('order-2'), { best: { 'a b': 1, in: 2 } }, documents).catch(() => [])
  const other = await renderParts(await read('order'), { best: { 'a b': 1, in: 2 } }, documents)
  expect([...parts, ...other]).toContainEqual({ role: 'user', content: [{ type: 'text', text: '1 2' }] })
  expect(losses('order')).toEqual(losses('order').filter((loss) => loss.includes('is now named')))
})
