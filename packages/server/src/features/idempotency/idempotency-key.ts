/** Responses with a secret are sealed. */
import { createHash } from 'node:crypto'
import { type AppError, issueAt, refuse } from '../../shared/app-error.ts'
import type { Needs } from '../deps.ts'
import type { AnswerSubject, Claim, KeptAnswer } from './ports.ts'

export interface ClaimInput extends AnswerSubject {
  apiKeyId: number
  method: string
  path: string
  key: string
  body: unknown
}

const printable = /^[\x20-\x7e]{1,255}$/

/** @throws AppError BadRequestError unless the key has 1 to 255 printable ASCII characters. */
export function claimFor({ apiKeyId, method, path, key, body, ...subject }: ClaimInput): Claim {
  if (!printable.test(key)) {
    throw refuse('invalid-idempotency-key', issueAt('Idempotency-Key', 'must have 1 to 255 printable ASCII characters'))
  }
  // Methods and paths contain no line break, so the joined text is unambiguous.
  return { id: sha256([apiKeyId, method, path, key].join('\n')), requestHash: sha256(canonicalJson(body)), ...subject }
}

export function otherRequest(): AppError {
  return refuse('idempotency-key-reused')
}

export function inProgress(): AppError {
  return refuse('idempotency-in-progress', { retryAfter: 1 })
}

/** Equal JSON values give the same text: sorted keys, no spaces. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) => (isPlainObject(item) ? inOrder(item) : item))
}

function inOrder(object: object): object {
  return Object.fromEntries(Object.entries(object).sort(([one], [other]) => (one < other ? -1 : 1)))
}

function isPlainObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

// Requests with these statuses had no effect, so a retry executes again.
const notKept = new Set([400, 401, 403, 404, 405, 409, 412, 413, 415, 429, 503])

export function isKept({ status }: KeptAnswer): boolean {
  return !notKept.has(status)
}

export interface AnswerForm {
  /** The record's id. A sealed response opens only with it. */
  id: string
  isSecret: boolean
}

export function writeAnswer(deps: Needs<'secrets'>, { id, isSecret }: AnswerForm, answer: KeptAnswer): string {
  const text = JSON.stringify(answer)
  return isSecret ? deps.secrets.seal(text, contextOf(id)) : text
}

/** @throws AppError ConflictError if the encryption key of a sealed response is lost. */
export function readAnswer(deps: Needs<'secrets'>, { id, isSecret }: AnswerForm, text: string): KeptAnswer {
  return JSON.parse(isSecret ? unseal(deps, id, text) : text) as KeptAnswer
}

// The work is done, so it must not run again. A response without the secret would be useless.
function unseal(deps: Needs<'secrets'>, id: string, sealed: string): string {
  try {
    return deps.secrets.open(sealed, contextOf(id))
  } catch {
    throw refuse('idempotency-unreadable')
  }
}

function contextOf(id: string): string {
  return `idempotency:${id}`
}
