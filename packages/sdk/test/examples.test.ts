/** Every public function, class and method has an example. All examples in comments and docs compile. */
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { compilerOptions, publicNames } from './support/public-api.ts'

const docs = fileURLToPath(new URL('../../../docs/', import.meta.url))
const pages = [...readdirSync(`${docs}sdk`).map((page) => `sdk/${page}`), 'evaluations.md', '../README.md']

const SCENE = `
declare const stet: Stet, latitude: import('@stet/sdk/latitude').Latitude
declare const stream: RunStream, job: import('@stet/sdk').RunJob, result: import('@stet/sdk').RunResult
declare const example: import('@stet/sdk').Example, documentUuid: string
declare const tree: import('@stet/sdk').VersionTree
declare const checks: import('@stet/sdk').ReleaseChecks
declare const draft: Version, call: import('@stet/sdk').ToolCall
declare const uuid: string, draftUuid: string, evaluationUuid: string, key: string, newToken: string, site: string
declare const ticket: string, text: string, content: string, baseHash: string, question: string, answer: string
declare const transport: import('@stet/sdk/ai').RunChatTransport
declare const weatherService: string, id: number, ticketId: number, e: unknown, cause: unknown, telemetry: unknown
declare const response: { write(bytes: Uint8Array): void }, context: { waitUntil(work: Promise<unknown>): void }
declare const openai: { chat: { completions: { create(body: Completion, options?: { signal?: AbortSignal }): Promise<Completed> } } }
type Completion = { model: string; messages: { role: string; content?: unknown }[] }
type Completed = { choices: { message: { content: string } }[] }
declare function expect(actual: unknown): Record<'toBe' | 'toEqual' | 'toMatchObject', (expected: unknown) => void>
declare function show(what: unknown): void
declare function report(error: unknown): void
declare function record(...figures: unknown[]): void
declare function hideSpinner(): void
declare function splitTheUpload(): void
declare function tryLater(conversationUuid: string | undefined): void
declare function weatherOf(city: string): unknown
declare function askModel(...asked: unknown[]): Promise<string>
declare function textOf(message: unknown): string
declare function answerTicket(stet: Stet, ticket: string): Promise<string>
declare function assertMayRead(request: Request, conversationUuid: string): Promise<void>
type Stet<R = import('@stet/sdk').PromptRegistry> = import('@stet/sdk').Stet<R>
type RunStream = import('@stet/sdk').RunStream
type Version = import('@stet/sdk').Version
type Change = import('@stet/sdk').Change
type Page<T> = import('@stet/sdk').Page<T>
type ConversationSummary = import('@stet/sdk').ConversationSummary
declare const z: typeof import('zod').z
`
const names = publicNames()
const VALUES = names
  .filter(({ isValue, name }, index) => isValue && names.findIndex((other) => other.name === name) === index)
  .map(({ name, entry }) => `declare const ${name}: typeof import('${entry}').${name}`)

/** Applications rarely use settings as strict as ours. */
const LENIENT = {
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  exactOptionalPropertyTypes: false,
  noUncheckedIndexedAccess: false,
  verbatimModuleSyntax: false,
}
const root = fileURLToPath(new URL('../', import.meta.url))
// Cache the standard library, because parsing it takes most of the time.
const parsed = new Map<string, ts.SourceFile>()

interface Example {
  place: string
  code: string
  /** Other examples import this file. */
  file?: string
}

const inComments: Example[] = names.flatMap(({ name, entry, examples }) =>
  examples.map((code) => ({
    place: name,
    code: code.startsWith('{') ? `const value: import('${entry}').${name} = ${code}` : code,
  })),
)
// Skip these blocks: the README walkthrough runs them with types that it generates.
const tsBlocks = /(?<!^<!-- walk:[^\n]*\n)(?:^<!-- run: (\S+) -->\n)?^```ts\n(.*?)^```/gms
const inDocs: Example[] = pages.flatMap((page) =>
  [...readFileSync(docs + page, 'utf8').matchAll(tsBlocks)].map(([, file, code = ''], index) => ({
    place: `docs/${page} ${index + 1}`,
    code,
    ...(file !== undefined && { file }),
  })),
)
const all = [...inComments, ...inDocs]
/** A module declaration changes the types of everything compiled with it. */
const isDeclaration = ({ code }: Example) => code.includes('declare module')

describe('examples', () => {
  it('exist for every public function, class and method', () => {
    const called = names.filter(({ isCalled }) => isCalled)
    expect(called.length).toBeGreaterThan(120)
    expect(called.filter(({ examples }) => examples.length === 0).map(({ name }) => name)).toEqual([])
  })

  it('compile', () => {
    expect(inComments.length).toBeGreaterThan(100)
    expect(inDocs.length).toBeGreaterThan(50)
    const typed = inDocs.filter(({ place }) => place.includes('typed-prompts.md'))
    const others = all.filter((example) => !typed.includes(example))
    expect(complaintsAbout(others.filter((example) => !isDeclaration(example)))).toEqual([])
    for (const example of others.filter(isDeclaration)) expect(complaintsAbout([example])).toEqual([])
    expect(typed.filter(isDeclaration)).toHaveLength(1)
    expect(complaintsAbout(typed)).toEqual([])
  })

  it('fail to compile when they are wrong', () => {
    const found = complaintsAbout([{ place: 'here', code: 'await stet.prompts.get(5)' }])
    expect(found).toEqual([expect.stringMatching(/^here: .*number.*not assignable/)])
  })
})

function complaintsAbout(examples: Example[]): string[] {
  const options = { ...compilerOptions(), moduleDetection: ts.ModuleDetectionKind.Auto, ...LENIENT }
  const texts = new Map([[`${root}scene.ts`, [SCENE, ...VALUES].join('\n')]])
  const places = new Map<string, string>()
  for (const [index, { place, code, file: name = `example-${index}.ts` }] of examples.entries()) {
    const file = `${root}${name}`
    texts.set(file, `${code}\nexport {}\n`)
    places.set(file, place)
  }
  const host = ts.createCompilerHost(options)
  const { getSourceFile, fileExists, readFile } = host
  host.fileExists = (name) => texts.has(name) || fileExists.call(host, name)
  host.readFile = (name) => texts.get(name) ?? readFile.call(host, name)
  host.getSourceFile = (name, ...rest) => {
    const text = texts.get(name)
    if (text !== undefined) return ts.createSourceFile(name, text, ts.ScriptTarget.ES2022)
    const source = parsed.get(name) ?? getSourceFile.call(host, name, ...rest)
    if (source) parsed.set(name, source)
    return source
  }
  const program = ts.createProgram([...texts.keys()], options, host)
  const found = [...program.getOptionsDiagnostics(), ...program.getGlobalDiagnostics()]
  for (const file of texts.keys()) {
    const source = program.getSourceFile(file)
    found.push(...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source))
  }
  return found.map(({ file, messageText }) => {
    const place = places.get(file?.fileName ?? '') ?? 'the scene'
    return `${place}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`
  })
}
