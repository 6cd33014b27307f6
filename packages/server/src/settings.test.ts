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

describe('STET_PUBLIC_URL', () => {
  it.each([
    ['https://stet.example.com', 'https://stet.example.com'],
    ['https://Stet.example.com:443/', 'https://stet.example.com'],
    ['http://10.0.0.5:8787/tools/stet/', 'http://10.0.0.5:8787/tools/stet'],
  ])('reads %j as %j', (value, expected) => {
    expect(settings.publicUrl.parse(value)).toBe(expected)
  })

  it.each([
    'stet.example.com',
    'ftp://a.example',
    'https://a:b@a.example',
    'https://a.example/?x',
    'https://a.example/#x',
  ])('refuses %j', (value) => {
    expect(settings.publicUrl.safeParse(value).success).toBe(false)
  })
})
