import { expect, test } from 'vitest'
import { uuidV5 } from './ids.ts'

test('depends on each part, and on where a part ends', () => {
  const uuids = [uuidV5('a', 'b'), uuidV5('ab'), uuidV5('a', 'b', 0), uuidV5('a', 'b', '0'), uuidV5('b', 'a')]
  expect(new Set(uuids).size).toBe(uuids.length)
  const form = /^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
  for (const uuid of uuids) expect(uuid).toMatch(form)
  expect(uuidV5('a', 'b')).toBe(uuids[0])
})
