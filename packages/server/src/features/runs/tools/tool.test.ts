import type { CannedResult } from '@stet/contract/vocabulary'
import { expect, it } from 'vitest'
import { cannedCalls } from './tool.ts'

type Results = Record<string, CannedResult[]>
type Args = Record<string, unknown>

/** The results of calls of `f` one after another. Undefined for a call without an entry. */
function answers(entries: CannedResult[], calls: Args[]): unknown[] {
  const canned = cannedCalls({ f: entries })
  return calls.map((args, index) => {
    const id = String(index)
    return canned.take({ id, name: 'f', arguments: args }) ? canned.outcomeOf(id).result : undefined
  })
}

const any = (result: unknown): CannedResult => ({ result })
const when = (args: Args, result: unknown): CannedResult => ({ args, result })

it.each<[string, CannedResult[], Args[], unknown[]]>([
  ['entries in order, and the last one repeats', [any('a'), any('b')], [{}, {}, {}], ['a', 'b', 'b']],
  ['the first entry that fits', [when({ id: 1 }, 'a'), when({ id: 2 }, 'b')], [{ id: 2 }, { id: 1 }], ['b', 'a']],
  ['the last fitting one repeats', [when({ id: 1 }, 'a'), when({ id: 2 }, 'b')], [{ id: 1 }, { id: 1 }], ['a', 'a']],
  ['nothing without a fitting entry', [when({ id: 1 }, 'a')], [{ id: 2 }, {}], [undefined, undefined]],
  ['arguments with more keys', [when({ id: 1 }, 'a')], [{ id: 1, more: true }], ['a']],
  [
    'nested objects with more keys',
    [when({ q: { id: 1 } }, 'a')],
    [{ q: { id: 1, x: 2 } }, { q: 1 }],
    ['a', undefined],
  ],
  ['only equal lists', [when({ ids: [1, 2] }, 'a')], [{ ids: [1, 2, 3] }, { ids: [1, 2] }], [undefined, 'a']],
  ['only values of the same type', [when({ id: 1 }, 'a')], [{ id: '1' }, { id: null }], [undefined, undefined]],
  ['null as a value', [when({ id: null }, 'a')], [{}, { id: null }], [undefined, 'a']],
  ['a null result', [any(null)], [{}], [null]],
])('gives %s', (_rule, entries, calls, expected) => {
  expect(answers(entries, calls)).toEqual(expected)
})

it('has nothing for tools without entries, also not for names of built-in properties', () => {
  const canned = cannedCalls({ f: [any('a')] } satisfies Results)
  for (const name of ['g', 'constructor', 'toString']) {
    expect(canned.take({ id: name, name, arguments: {} })).toBe(false)
  }
})

it('gives errors as errors', () => {
  const canned = cannedCalls({ f: [{ result: 'down', isError: true }] })
  canned.take({ id: 'a', name: 'f', arguments: {} })
  expect(canned.outcomeOf('a')).toEqual({ result: 'down', isError: true })
})
