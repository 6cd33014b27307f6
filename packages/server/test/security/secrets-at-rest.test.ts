import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { secretBox } from '../../src/adapters/secrets/secret-box.ts'

const newKey = () => randomBytes(32).toString('base64')
const first = newKey()
const box = secretBox([first])

describe('secret box', () => {
  it('decrypts its own ciphertext, and encrypts the same text differently each time', () => {
    const sealed = box.seal('sk-ünïcode-👋', 'row:1')
    expect(box.open(sealed, 'row:1')).toBe('sk-ünïcode-👋')
    expect(box.seal('sk-ünïcode-👋', 'row:1')).not.toBe(sealed)
    expect(sealed).not.toContain('sk-')
  })

  it('refuses a text with any character changed, removed or added', () => {
    const sealed = box.seal('secret', 'row:1')
    for (let at = 0; at < sealed.length; at += 1) {
      const other = sealed[at] === 'A' ? 'B' : 'A'
      expect(() => box.open(sealed.slice(0, at) + other + sealed.slice(at + 1), 'row:1')).toThrow()
      expect(() => box.open(sealed.slice(0, at) + sealed.slice(at + 1), 'row:1')).toThrow()
    }
    expect(() => box.open(`${sealed}A`, 'row:1')).toThrow()
    expect(() => box.open('', 'row:1')).toThrow()
  })

  it('refuses a ciphertext from another row', () => {
    expect(() => box.open(box.seal('secret', 'row:1'), 'row:2')).toThrow()
  })

  it('decrypts with every key of the ring and encrypts with the first', () => {
    const second = newKey()
    const rotated = secretBox([second, first])
    expect(rotated.open(box.seal('old', 'row:1'), 'row:1')).toBe('old')
    expect(secretBox([second]).open(rotated.seal('new', 'row:1'), 'row:1')).toBe('new')
    expect(() => box.open(rotated.seal('new', 'row:1'), 'row:1')).toThrow('not in the ring')
  })

  it('refuses a missing key and keys of another length', () => {
    expect(() => secretBox([randomBytes(16).toString('base64')])).toThrow('16 bytes')
    expect(() => secretBox([])).toThrow()
  })
})
