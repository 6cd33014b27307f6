/** Runs every regular expression in the sources on long hostile texts. No expression may take quadratic time. */
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import ts from 'typescript'
import { afterAll, expect, it } from 'vitest'
import { count } from '../support/counts.ts'

interface Expression {
  file: string
  source: string
  flags: string
}

const packages = fileURLToPath(new URL('../../..', import.meta.url))
const characters = count(4_000, 50_000)
/** A match that needs more CPU time than this does not end in useful time. Safe ones need less than 1 ms. */
const hangMs = 1_000

/** Slow expressions that are allowed, because no request waits for them. */
const tolerated: Readonly<Record<string, string>> = {
  // The caller's own files, read once in a separate process.
  'cli/src/commands/import/': 'import of files',
  // The server address that the application configures.
  'sdk/src/transport/url.ts': 'settings of the application',
}

async function sourceFiles(): Promise<string[]> {
  const found = await Promise.all(
    ['cli', 'contract', 'embedded-postgres', 'sdk', 'server', 'template'].map(async (name) => {
      const folder = join(packages, name, 'src')
      const names = await readdir(folder, { recursive: true })
      return names.filter((each) => /(?<!\.test)\.ts$/.test(each)).map((each) => join(folder, each))
    }),
  )
  return found.flat()
}

async function expressionsIn(path: string): Promise<Expression[]> {
  const file = relative(packages, path)
  const tree = ts.createSourceFile(file, await readFile(path, 'utf8'), ts.ScriptTarget.Latest)
  const found: Expression[] = []
  const visit = (node: ts.Node) => {
    if (ts.isRegularExpressionLiteral(node)) {
      const end = node.text.lastIndexOf('/')
      found.push({ file, source: node.text.slice(1, end), flags: node.text.slice(end + 1) })
    }
    ts.forEachChild(node, visit)
  }
  visit(tree)
  return found
}

let worker: Worker | undefined
const trying = new SharedArrayBuffer(400)
afterAll(() => worker?.terminate())

async function startedWorker(): Promise<Worker> {
  const started = new Worker(new URL('expression-worker.mjs', import.meta.url), { workerData: trying })
  await once(started, 'online')
  return started
}

/** The CPU time of this process, most of which the worker uses. A busy or slow machine does not add to it. */
const cpuMs = () => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

/** Returns the start of a text on which the expression needs more than linear time. */
async function slowTextOf({ source, flags }: Expression): Promise<string | undefined> {
  const thread = worker ?? (await startedWorker())
  worker = thread
  const textNow = () => Buffer.from(trying).toString().split('\0', 1).join()
  return new Promise((resolve) => {
    let [text, since] = ['', cpuMs()]
    const timer = setInterval(() => {
      if (textNow() !== text) [text, since] = [textNow(), cpuMs()]
      if (cpuMs() - since < hangMs) return
      worker = undefined
      void thread.terminate()
      end(text)
    }, 50)
    const onMessage = ({ slowOn }: { slowOn: string | undefined }) => end(slowOn)
    const end = (slowOn: string | undefined) => {
      clearInterval(timer)
      thread.off('message', onMessage)
      resolve(slowOn)
    }
    thread.on('message', onMessage)
    thread.postMessage({ source, flags, characters })
  })
}

it('detects a known slow expression', async () => {
  expect(await slowTextOf({ file: '', source: '^(?:a+)+$', flags: '' })).toMatch(/^a+/)
  expect(await slowTextOf({ file: '', source: '\\s+$', flags: '' })).toMatch(/^\s+/)
  expect(await slowTextOf({ file: '', source: '^\\s+$', flags: '' })).toBeUndefined()
}, 60_000)

it('runs every expression fast on any text', async () => {
  const all = (await Promise.all((await sourceFiles()).map(expressionsIn))).flat()
  expect(all.length).toBeGreaterThan(200)
  const isUnbounded = ({ source }: Expression) => /[*+]|\{\d*,\}/.test(source)
  const isTolerated = ({ file }: Expression) => Object.keys(tolerated).some((place) => file.startsWith(place))
  const tried = all.filter((each) => isUnbounded(each) && !isTolerated(each))
  const slow: object[] = []
  for (const expression of new Map(tried.map((each) => [`/${each.source}/${each.flags}`, each])).values()) {
    const text = await slowTextOf(expression)
    if (text !== undefined) slow.push({ ...expression, text })
  }
  expect(slow).toEqual([])
}, 300_000)
