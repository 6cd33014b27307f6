import { describe, expect, it } from 'vitest'
import { settings } from './settings.ts'

describe('STET_CORS_ORIGINS', () => {
  const isTaken = (value: string): boolean => settings.corsOrigins.safeParse(value).success

  it.each(['', 'https://app.example.com', 'http://localhost:3000, https://a.example:8443', 'http://[::1]:3000'])(
    'accepts %j',
    (value) => {
      expect(isTaken(value)).toBe(true)
    },
  )

  it.each([
    '*',
    'null',
    'app.example.com',
    'https://*.example.com',
    'https://a.example/',
    'https://a.example:443',
    'https://A.example',
    'https://a.example/path',
    'ftp://a.example',
    'https://a.example,*',
  ])('refuses %j', (value) => {
    expect(isTaken(value)).toBe(false)
  })
})
