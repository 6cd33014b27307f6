import { readFileSync } from 'node:fs'
import ts from 'typescript'
import { beforeAll, expect, it } from 'vitest'
import { complaints } from './support/compiler.ts'
import { built as buildOf } from './support/packed.ts'

const SURFACE = readFileSync(new URL('fixtures/surface.d.ts', import.meta.url), 'utf8')

let folder: string
let built: string
let registry: string
beforeAll(async () => {
  folder = await buildOf('surface-test')
  // Private members make every class unique, so compare only the public part.
  built = readFileSync(`${folder}/index.d.cts`, 'utf8').replaceAll('#private;', '')
  registry = readFileSync(`${folder}/prompt-registry.d.cts`, 'utf8')
})

/** The type arguments for comparing generic types. Other types are not generic. */
const ARGUMENTS: Record<string, string[]> = {
  PromptPath: ['<Registry>', '<{}>'],
  ParamsOf: ["<Registry, 'reply'>", "<Registry, 'unknown'>"],
  OutputOf: ["<Registry, 'triage'>", "<Registry, 'reply'>", "<Registry, 'tags'>"],
  ToolsOf: ["<Registry, 'plan'>", "<Registry, 'reply'>"],
  Stet: ['<Registry>', ''],
  Prompts: ['<Registry>', ''],
  ApiPromise: ['<string>'],
  Page: ['<string>'],
  PagePromise: ['<string>'],
  RunResponse: ["<'text'>", '<{ a: number }>', "<'text' | 'voice'>", '<any>'],
  RunResult: ["<'text'>", '<{ a: number }>', '<string[]>', '<unknown>'],
  RunJob: ["<'text'>", '<{ a: number }>'],
  StandardSchema: ['<unknown, { a: number }>'],
  Tool: ['<{ a: number }>', '', '<{ a: number }, { a?: number }>'],
  DeepPartial: ["<{ a: 'b'; c: { d: number }[] }>"],
  PartialObject: ["<'text'>", "<{ a: 'b' }>"],
  ToolHandler: ['<{ a: number }>', ''],
  ErrorWithReason: ["<'unknown-document'>", "<'rate-limited'>"],
  ToolMap: ['<{ x: { a: number } }>', ''],
  HandlerMap: ['<{ x: { a: number } }>'],
  StreamCallbacks: ["<'text'>", '<{ a: number }>'],
  StreamControls: ['<{ x: { a: number } }>', ''],
  RunOptions: ["<Registry, 'reply'>", "<Registry, 'triage'>", "<Registry, 'plan'>", '<{}, string, { a: number }>'],
  ChatOptions: ["<'text'>", '<{ a: number }>'],
  AttachOptions: ["<'text'>", '<{ a: number }>'],
  StreamEventMap: ["<'text'>", '<{ a: number }>'],
  AsyncIterableStream: ['<string>'],
  RunStream: ["<'text'>", '<{ a: number }>'],
}
/** These names are also compared as values: constructors and static members. */
const VALUES = ['Stet', 'ToolExecutionError', 'tool', 'hasReason']
/** Exports that are not in the surface, with the reason. */
const BESIDE: Record<string, string> = {}

const namesIn = (text: string) => [
  ...text.matchAll(/^export (?:declare )?(?:abstract )?(interface|class|type|function|const) (\w+)/gm),
]

it('the built declarations and the surface export the same names', () => {
  // Applications augment the registry file, which the declarations of both formats re-export.
  const exported = [built, registry].flatMap((text) => {
    const [, list = ''] = /export \{([^}]*)\};?\s*$/.exec(text) ?? []
    return list.split(',').map((name) => name.trim().replace(/^type /, ''))
  })
  expect(exported.filter((name) => !(name in BESIDE)).sort()).toEqual(
    namesIn(SURFACE)
      .map(([, , name]) => name)
      .sort(),
  )
})

it('the built declarations and the surface are assignable to each other', () => {
  const types = namesIn(SURFACE).filter(([, kind]) => kind !== 'function' && kind !== 'const')
  const pairs = types.flatMap(([, , name = '']) => (ARGUMENTS[name] ?? ['']).map((given) => `${name}${given}`))
  const test = [
    "import type * as Built from './built.d.cts'",
    "import type * as Surface from './surface.d.mts'",
    `interface Registry {
      reply: { parameters: { ticket: string; tone?: 'kind' } }
      triage: { parameters: { ticket: string }; output: { urgency: 'low' | 'high' } }
      tags: { output: string[] }
      plan: { tools: { get_weather: { city: string } } }
    }`,
    'declare function agree<A, B extends A>(): void',
    ...pairs.flatMap((pair) => [`agree<Built.${pair}, Surface.${pair}>()`, `agree<Surface.${pair}, Built.${pair}>()`]),
    ...VALUES.flatMap((name) => [
      `agree<typeof Built.${name}, typeof Surface.${name}>()`,
      `agree<typeof Surface.${name}, typeof Built.${name}>()`,
    ]),
    '// @ts-expect-error types that differ do not agree',
    'agree<Built.Usage, Surface.Me>()',
  ]
  const texts = { 'check.ts': test.join('\n'), 'built.d.cts': built, 'surface.d.mts': SURFACE }
  const found = complaints(ts, folder, texts, Object.keys(texts))
  expect(
    found.map((complaint) => complaint.replace(/^(\d+)/, (line) => `${test.join('\n').split('\n')[Number(line) - 1]}`)),
  ).toEqual([])
})
