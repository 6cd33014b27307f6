/** The row of an API key contains the key's hash and prefix, never the clear key. */

import { hash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { KeyPlan, KeyScope } from '@stet/contract/vocabulary'
import { issueAt, refuse } from '../../shared/app-error.ts'
import type { Author, Caller } from '../../shared/caller.ts'
import { randomText } from '../../shared/ids.ts'

export const defaultScopes: readonly KeyScope[] = ['read', 'run', 'write', 'publish']

export interface ApiKey {
  id: number
  workspaceId: number
  name: string
  prefix: string
  scopes: readonly KeyScope[]
  projectId: number | null
  plan: KeyPlan
  /** Requests per second. */
  limit: number
  author: Author
  expiresAt: Date | null
  lastUsedAt: Date | null
  revokedAt: Date | null
  createdAt: Date
}

/** Contains the clear key, which is not stored. */
export interface IssuedApiKey {
  apiKey: ApiKey
  key: string
}

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const secretLength = 30
const checksumLength = 6
const keyForm = /^stet_[0-9A-Za-z]{36}$/

/** The key is `stet_`, 30 random base62 characters (about 178 bits) and a 6-character CRC32. */
export function generateApiKey(): string {
  const text = `stet_${randomText(secretLength)}`
  return text + checksumOf(text)
}

/** Checks the form and the checksum, without a database query. */
export function isWellFormedApiKey(key: string): boolean {
  return keyForm.test(key) && checksumOf(key.slice(0, -checksumLength)) === key.slice(-checksumLength)
}

/** SHA-256 of the whole key, in hex. A slow hash adds nothing at 178 bits. */
export function hashApiKey(key: string): string {
  return hash('sha256', key)
}

export function apiKeyPrefix(key: string): string {
  return key.slice(0, 'stet_'.length + 4)
}

/** Revoking, rotating or purging a key drops this cache scope. */
export function keyScope(hash: string): string {
  return `key:${hash}`
}

function checksumOf(text: string): string {
  let rest = crc32(text)
  let digits = ''
  while (digits.length < checksumLength) {
    digits = alphabet.charAt(rest % alphabet.length) + digits
    rest = Math.floor(rest / alphabet.length)
  }
  return digits
}

/** The rate limits of the pricing plans, in requests per second. */
const limits = { hobby: 10, team: 166, enterprise: 500 } as const

/** @throws AppError BadRequestError for the pricing plan `custom` without a limit. */
export function limitOf(plan: KeyPlan, customLimit: number | null | undefined): number {
  if (plan !== 'custom') return limits[plan]
  if (customLimit == null) throw refuse('invalid-body', issueAt('limit', 'required for plan custom'))
  return customLimit
}

/** @throws AppError ForbiddenError that names the first key scope, unless the caller has one of them or `admin`. */
export function requireScope({ scopes }: Caller, anyOf: readonly [KeyScope, ...KeyScope[]]): void {
  if (scopes.includes('admin')) return
  for (const scope of anyOf) if (scopes.includes(scope)) return
  throw refuse('missing-scope', { required: anyOf[0] })
}

/** @throws AppError ForbiddenError for a key that is restricted to one project. */
export function requireUnrestricted(caller: Caller): void {
  if (caller.projectId !== null) throw refuse('restricted-key')
}
