import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { baseOf, type Compared, compare, planPull, planPush } from '../src/sync/compare.ts'
import { comparedWith } from './support/compared.ts'
import { threeWayRows } from './support/three-way-rows.ts'

const side = (text: string): string | undefined => text || undefined

function comparedOf(base: string, local: string, remote: string): Compared | undefined {
  const state = compare({ base: side(base), local: local ? new Set([local]) : undefined, remote: side(remote) })
  const [localText, remoteText] = [side(local), side(remote)]
  return (
    state &&
    comparedWith({
      path: 'a',
      state,
      baseHash: side(base),
      localText,
      localHash: localText,
      remoteText,
      remoteHash: remoteText,
    })
  )
}

function pushOf(one: Compared): string {
  const plan = planPush([one], 'refuse')
  if (plan.conflicts.length > 0) return 'stop'
  if (plan.deletions.length > 0) return 'delete'
  return plan.changes.length > 0 ? 'send' : '-'
}

test.each(threeWayRows)('base "%s", local "%s", remote "%s" is %s', (base, local, remote, state, push, pull) => {
  const one = comparedOf(base, local, remote)
  expect(one?.state).toBe(state)
  expect(one && pushOf(one)).toBe(push)
  expect(one && planPull(one, undefined, false)).toBe(pull)
})

test('a prompt that exists nowhere has no state', () => {
  expect(compare({ base: undefined, local: undefined, remote: undefined })).toBeUndefined()
})

const anyManner = fc.constantFrom('refuse' as const, 'merge' as const)
const anySide = fc.constantFrom('', 'x', 'y', 'z')

test('a push never touches changes made only on the server, and sends the base hash', () => {
  fc.assert(
    fc.property(anySide, anySide, anySide, anyManner, (base, local, remote, manner) => {
      const one = comparedOf(base, local, remote)
      if (!one) return
      const { changes, deletions } = planPush([one], manner)
      if (local === base) expect([...changes, ...deletions]).toEqual([])
      for (const change of [...changes, ...deletions]) expect(change.baseHash).toBe(manner === 'merge' ? base : remote)
    }),
  )
})

test('a pull never overwrites or deletes a file that only the user changed', () => {
  fc.assert(
    fc.property(anySide, anySide, anySide, (base, local, remote) => {
      const one = comparedOf(base, local, remote)
      if (!one || local === '' || local === base) return
      expect(['write', 'delete']).not.toContain(planPull(one, undefined, false))
    }),
  )
})

test('a forced push overwrites the text that the user has seen, and no later one', () => {
  const one = comparedOf('x', 'y', 'z')
  expect(one && planPush([one], 'force')).toMatchObject({
    conflicts: [],
    changes: [{ path: 'a', status: 'modified', content: 'y', baseHash: one?.remoteHash }],
  })
})

test('conflict markers in a file block its push, and a pull leaves them to the user', () => {
  const one = comparedOf('x', 'y', 'x')
  const marked = one && { ...one, hasMarkers: true, isMerged: true }
  expect(marked && pushOf(marked)).toBe('stop')
  const pulled = [undefined, 'theirs', 'ours'] as const
  expect(marked && pulled.map((side) => planPull(marked, side, false))).toEqual(['unresolved', 'write', 'restore'])
})

test('a file that is as before the last merge continues the earlier base', () => {
  const entry = { hash: 'z', mine: 'm', base: 'x' }
  expect(['merged', 'm', 'x'].map((local) => baseOf(entry, new Set([local])))).toEqual(['z', 'x', 'x'])
  expect(baseOf({ hash: 'z', mine: 'm' }, new Set(['m']))).toBeUndefined()
  expect(baseOf(entry, undefined)).toBe('z')
})

test.each([
  ['theirs', 'conflict', 'write'],
  ['ours', 'conflict', 'settle'],
  ['theirs', 'edit-against-delete', 'delete'],
  ['ours', 'edit-against-delete', 'settle'],
  ['ours', 'delete-against-edit', 'settle'],
  ['theirs', 'local-edit', 'keep'],
] as const)('pull --%s settles %s by %s', (preference, state, action) => {
  const one = comparedOf('x', 'y', 'z')
  expect(one && planPull({ ...one, state }, preference, false)).toBe(action)
})
