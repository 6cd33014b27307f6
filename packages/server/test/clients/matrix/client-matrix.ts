/** Collects a published client's test results by method, for docs/compatibility.md. */
import { fileURLToPath } from 'node:url'
import { describe, expect, type RunnerTask, test } from 'vitest'

type Verdict = 'works' | 'works with a note' | 'not offered' | 'FAILS' | 'NO TEST'

export interface MatrixEntry {
  result: Verdict
  note?: string
  tests: Record<string, string>
}

export interface ClientResults {
  client: string
  version: string
  /** Either the real package, or its requests and models. */
  as: string
  methods: Record<string, MatrixEntry>
  behaviours: Record<string, MatrixEntry>
}

interface Declared {
  kind: 'methods' | 'behaviours'
  note?: string
  isOffered: boolean
}

export type Matrix = ReturnType<typeof clientMatrix>

/**
 * Collects the tests of one client in one file. Declare them with `method` and `behaviour`, then call `close`: it adds
 * the test that compares the results with `results/<name>.json`.
 */
export function clientMatrix(name: string, about: Pick<ClientResults, 'client' | 'version' | 'as'>) {
  const declared = new Map<string, Declared>()
  const declare = (title: string, entry: Declared, tests: () => void): void => {
    if (declared.has(title)) throw new Error(`${title} is declared twice`)
    declared.set(title, entry)
    describe(title, tests)
  }
  return {
    /** Declares a method that works. The note explains a difference from the discontinued service. */
    method: (title: string, tests: () => void, note?: string) =>
      declare(title, { kind: 'methods', isOffered: true, ...(note !== undefined && { note }) }, tests),
    /** Declares a method that no server can support. Its tests show the result. */
    notOffered: (title: string, note: string, tests: () => void) =>
      declare(title, { kind: 'methods', isOffered: false, note }, tests),
    behaviour: (title: string, tests: () => void, note?: string) =>
      declare(title, { kind: 'behaviours', isOffered: true, ...(note !== undefined && { note }) }, tests),
    /** `surface` lists every method of the client. A method without a test fails the comparison. */
    close(surface: () => readonly string[]) {
      test('every method has a test, and the results are those that are checked in', async ({ task }) => {
        const shown = new Map(task.file.tasks.map((one) => [one.name, one]))
        const entry = (title: string): MatrixEntry => judge(shown.get(title), declared.get(title))
        const named = (kind: Declared['kind']) =>
          [...declared].filter(([, one]) => one.kind === kind).map(([key]) => key)
        const results: ClientResults = {
          ...about,
          methods: Object.fromEntries([...surface()].map((title) => [title, entry(title)])),
          behaviours: Object.fromEntries(named('behaviours').map((title) => [title, entry(title)])),
        }
        await expect(`${JSON.stringify(results, null, 2)}\n`).toMatchFileSnapshot(resultsFile(name))
        expect(named('methods').sort()).toEqual([...surface()].sort())
      })
    },
  }
}

export function resultsFile(name: string): string {
  return fileURLToPath(new URL(`../results/${name}.json`, import.meta.url))
}

function judge(task: RunnerTask | undefined, declared: Declared | undefined): MatrixEntry {
  const tests = outcomesOf(task)
  const note = declared?.note === undefined ? {} : { note: declared.note }
  return { result: verdict(Object.values(tests), declared), ...note, tests }
}

function verdict(states: readonly string[], declared: Declared | undefined): Verdict {
  if (states.length === 0 || !declared) return 'NO TEST'
  if (states.some((state) => state !== 'passed')) return 'FAILS'
  if (!declared.isOffered) return 'not offered'
  return declared.note === undefined ? 'works' : 'works with a note'
}

export function outcomesOf(suite: RunnerTask | undefined): Record<string, string> {
  return Object.fromEntries(suite ? outcomes(suite) : [])
}

function outcomes(task: RunnerTask): [title: string, state: string][] {
  if (task.type === 'suite') return task.tasks.flatMap(outcomes)
  return [[task.name, task.result?.state === 'pass' ? 'passed' : (task.result?.state ?? 'not run')]]
}
