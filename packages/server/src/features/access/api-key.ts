/** An API key: its form, stored hash, scopes and limits. The clear key appears only in the response that creates it. */

import { hash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { KeyPlan, KeyScope } from '@stet/contract/vocabulary'
import { issueAt, refuse } from '../../shared/app-error.ts'
import type { Author, Caller } from '../../shared/caller.ts'
import { randomText } from '../../shared/random-text.ts'

export type Scope = KeyScope

export const defaultScopes: readonly Scope[] = ['read', 'run', 'write', 'publish']

export interface ApiKey {
  id: number
  workspaceId: number
  name: string
  /** `stet_` and the first four characters of the secret. */
  prefix: string
  scopes: readonly Scope[]
  projectId: number | null
  plan: Plan
  /** Requests per second. */
  limit: number
  author: Author
  expiresAt: Date | null
  lastUsedAt: Date | null
  revokedAt: Date | null
  createdAt: Date
}

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const secretLength = 30
const checksumLength = 6
const keyForm = /^stet_[0-9A-Za-z]{36}$/

/** A new clear key: `stet_`, 30 base62 characters (about 178 bits of the system's random source), 6 of CRC32. */
export function generateApiKey(): string {
  const text = `stet_${randomText(secretLength)}`
  return text + checksumOf(text)
}

/** Whether a text has the form and checksum of a key. Anything else is refused without a statement. */
export function isWellFormedApiKey(key: string): boolean {
  return keyForm.test(key) && checksumOf(key.slice(0, -checksumLength)) === key.slice(-checksumLength)
}

/** The stored form: SHA-256 of the whole key, hex. A slow hash adds nothing at 178 bits. */
export function hashApiKey(key: string): string {
  return hash('sha256', key)
}

export function apiKeyPrefix(key: string): string {
  return key.slice(0, 'stet_'.length + 4)
}

function checksumOf(text: string): string {
  let rest = crc32(text)
  let digits = ''
  for (let index = 0; index < checksumLength; index += 1) {
    digits = alphabet.charAt(rest % alphabet.length) + digits
    rest = Math.floor(rest / alphabet.length)
  }
  return digits
}

/** Pricing plans and their limits, in requests per second; see section 8 of the interface document. */
export type Plan = KeyPlan

const limits = { hobby: 10, team: 166, enterprise: 500 } as const

/** @throws AppError BadRequestError when plan `custom` names no limit. */
export function limitOf(plan: Plan, customLimit: number | null | undefined): number {
  if (plan !== 'custom') return limits[plan]
  if (customLimit === null || customLimit === undefined)
    throw refuse('invalid-body', issueAt('limit', 'required for plan custom'))
  return customLimit
}

/** @throws AppError ForbiddenError unless the caller has one of the scopes; the first is named. */
export function requireScope({ scopes }: Caller, anyOf: readonly [Scope, ...Scope[]]): void {
  if (scopes.includes('admin')) return
  for (const scope of anyOf) if (scopes.includes(scope)) return
  throw refuse('missing-scope', { required: anyOf[0] })
}

/** @throws AppError ForbiddenError for a key that sees one project only. */
export function requireUnrestricted(caller: Caller): void {
  if (caller.projectId !== null) throw refuse('restricted-key')
}
