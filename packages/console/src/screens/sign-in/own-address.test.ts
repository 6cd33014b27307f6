import { expect, test } from 'vitest'
import { ownAddress } from './own-address.ts'

test.each([
  [undefined, '/'],
  ['/p/1/v/live/prompts?tab=run', '/p/1/v/live/prompts?tab=run'],
  ['/settings/keys', '/settings/keys'],
  ['/runs/0b1f7f2e?tab=events', '/runs/0b1f7f2e?tab=events'],
  ['//evil.example/p/1', '/'],
  ['https://evil.example/', '/'],
  ['/\\evil.example', '/'],
  ['/\t/evil.example', '/'],
  ['/docs', '/'],
  ['/../api/v3/me', '/'],
])('after signing in, %s leads to %s', (to, address) => {
  for (const base of ['https://stet.example/', 'https://stet.example/tools/stet/'])
    expect(ownAddress(to, new URL(base))).toBe(address)
})
