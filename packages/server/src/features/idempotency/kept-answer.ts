/** Which answers are kept, and how: those that hold a secret are sealed. */
import { conflict } from '../../shared/app-error.ts'
import type { Needs } from '../deps.ts'
import type { KeptAnswer } from './ports.ts'

// Nothing was done, or what was missing may be there the next time: a repetition executes.
const notKept = new Set([400, 401, 403, 404, 405, 409, 412, 413, 415, 429, 503])

export function isKept({ status }: KeptAnswer): boolean {
  return !notKept.has(status)
}

export interface AnswerForm {
  /** Of the claim: a sealed answer opens for it alone. */
  id: string
  isSecret: boolean
}

export function writeAnswer(deps: Needs<'secrets'>, { id, isSecret }: AnswerForm, answer: KeptAnswer): string {
  const text = JSON.stringify(answer)
  return isSecret ? deps.secrets.seal(text, contextOf(id)) : text
}

/** @throws AppError ConflictError for a sealed answer whose encryption key has left the ring. */
export function readAnswer(deps: Needs<'secrets'>, { id, isSecret }: AnswerForm, text: string): KeptAnswer {
  // Only `writeAnswer` has written what stands there.
  return JSON.parse(isSecret ? unseal(deps, id, text) : text) as KeptAnswer
}

// The work was done: neither doing it again nor an answer without the secret would be honest.
function unseal(deps: Needs<'secrets'>, id: string, sealed: string): string {
  try {
    return deps.secrets.open(sealed, contextOf(id))
  } catch {
    throw conflict('The answer kept for this Idempotency-Key can no longer be read', { reason: 'unreadable' })
  }
}

function contextOf(id: string): string {
  return `idempotency:${id}`
}
