import type { Run } from '@stet/sdk'
import { expect, test } from 'vitest'
import { evidenceText } from './evidence-text.ts'

const run = (name: string | null, status: Run['status'] = 'completed') => ({
  status,
  author: name === null ? null : { id: 1, name, email: 'someone@example.com' },
})

test.each([
  [[run('Ana'), run('Ana', 'error'), run('Ana')], 'of this draft by Ana, 1 failed'],
  [[run('Ana'), run('Leo', 'stopped')], 'of this draft by Ana and Leo, none failed'],
  [
    ['Ana', 'Leo', 'Mia', 'Tom', 'Zoe'].map((name) => run(name)),
    'of this draft by Ana, Leo, Mia and 2 more, none failed',
  ],
  [[run('Ana\u202e')], 'of this draft by Ana•, none failed'],
  [[run(null, 'error')], 'of this draft, 1 failed'],
])('%j', (runs, text) => expect(evidenceText(runs)).toBe(text))
