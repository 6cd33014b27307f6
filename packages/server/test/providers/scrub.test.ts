import { describe, expect, it } from 'vitest'
import { scrubbed } from '../../src/adapters/providers/answer/failure.ts'

const token = 'Zk3aPq9LmXw7RtYv2BnC4dEf'

describe('token in a provider’s message', () => {
  it.each([
    ['whole', `key ${token}.`, 'key ***.'],
    ['twice', `${token}${token}`, '******'],
    ['a prefix of 12 characters', `key ${token.slice(0, 12)}... is wrong`, 'key ***... is wrong'],
    ['a longer prefix', `key ${token.slice(0, 20)}XYZ`, 'key ***XYZ'],
    ['a prefix at the end of the text', `key ${token.slice(0, 15)}`, 'key ***'],
    ['keeps a prefix of 11 characters', `key ${token.slice(0, 11)}...`, `key ${token.slice(0, 11)}...`],
  ])('%s', (_name, text, shown) => expect(scrubbed(text, token)).toBe(shown))

  it.each(['', 'u', 'us', 'user:', 'api-key:'])('is removed in base64 after %j', (before) => {
    for (const after of ['', ':', 'xy']) {
      for (const encoding of ['base64', 'base64url'] as const) {
        const encoded = Buffer.from(before + token + after).toString(encoding)
        const shown = scrubbed(`got ${encoded}`, token)
        expect(shown).toContain('***')
        // Only the characters that neighbors share with the token may remain.
        for (let from = 0; from + 8 <= encoded.length; from += 1) {
          const piece = Buffer.from(encoded.slice(from, from + 8), encoding).toString('latin1')
          if (token.includes(piece)) expect(shown).not.toContain(encoded.slice(from, from + 8))
        }
      }
    }
  })

  it('is removed from truncated base64', () => {
    const encoded = Buffer.from(token).toString('base64')
    expect(scrubbed(`Basic ${encoded.slice(0, 16)}…`, token)).toBe('Basic ***…')
  })

  it('is removed completely if short; 3 characters are not a secret', () => {
    expect(scrubbed('token test1234 and test', 'test1234')).toBe('token *** and test')
    expect(scrubbed('the key abc', 'abc')).toBe('the key abc')
  })

  it('is found fast in a text of several megabytes', () => {
    expect(scrubbed(token.slice(0, 11).repeat(1_000_000), token).length).toBeLessThanOrEqual(2_000)
  })
})
