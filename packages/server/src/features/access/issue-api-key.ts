/** Issues a further key of a workspace. The clear key is returned once and stored nowhere. */

import { issueAt, refuse } from '../../shared/app-error.ts'
import type { Author, Caller } from '../../shared/caller.ts'
import type { Needs, Stores } from '../deps.ts'
import {
  type ApiKey,
  apiKeyPrefix,
  defaultScopes,
  generateApiKey,
  hashApiKey,
  limitOf,
  type Plan,
  type Scope,
} from './api-key.ts'

export interface IssueApiKeyInput {
  caller: Caller
  name: string
  scopes?: readonly Scope[] | undefined
  projectId?: number | undefined
  expiresAt?: Date | undefined
  plan?: Plan | undefined
  limit?: number | undefined
}

/** @throws AppError BadRequestError (expiry in the past or after 9999, plan custom without limit), NotFoundError (project). */
export async function issueApiKey(
  deps: Needs<'stores' | 'transaction' | 'clock' | 'logger'>,
  input: IssueApiKeyInput,
): Promise<{ apiKey: ApiKey; key: string }> {
  const { caller } = input
  const plan = input.plan ?? 'team'
  limitOf(plan, input.limit)
  assertExpiry(input.expiresAt, deps.clock.now())
  if (
    input.projectId !== undefined &&
    !(await deps.stores.projects.findOptional(caller.workspaceId, input.projectId))
  ) {
    throw refuse('unknown-project')
  }
  const key = generateApiKey()
  const fields = {
    workspaceId: caller.workspaceId,
    name: input.name,
    hash: hashApiKey(key),
    prefix: apiKeyPrefix(key),
    scopes: [...new Set(input.scopes ?? defaultScopes)],
    projectId: input.projectId ?? null,
    plan,
    customLimit: plan === 'custom' ? (input.limit ?? null) : null,
    expiresAt: input.expiresAt ?? null,
  }
  const apiKey = await deps.transaction(async (stores) => {
    const author = await authorNamed(stores, caller.workspaceId, input.name)
    return stores.apiKeys.create(caller.workspaceId, { ...fields, author })
  })
  deps.logger.info('audit.api-key-issued', {
    workspaceId: caller.workspaceId,
    apiKeyId: apiKey.id,
    by: caller.apiKeyId,
  })
  return { apiKey, key }
}

// A key is named after the person or program that uses it. Keys with the same name share an author.
async function authorNamed({ workspaces }: Stores, workspaceId: number, name: string): Promise<Author> {
  const known = await workspaces.findAuthorByName(workspaceId, name)
  return known ?? workspaces.createAuthor(workspaceId, { name, email: `${mailboxOf(name)}@localhost` })
}

// Versions show an e-mail address, and published clients require one.
function mailboxOf(name: string): string {
  const ascii = name.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase()
  const words = ascii.match(/[a-z0-9]+/g) ?? ['key']
  return words.join('-').slice(0, 64)
}

// In UTC: an instant of 9999 with an offset may fall into the year 10000, which four digits cannot express.
function assertExpiry(expiresAt: Date | undefined, now: Date): void {
  if (!expiresAt) return
  if (expiresAt <= now) throw invalidExpiry('must be in the future')
  if (expiresAt.getUTCFullYear() > 9999) throw invalidExpiry('must be before the year 10000')
}

function invalidExpiry(message: string): Error {
  return refuse('invalid-body', issueAt('expiresAt', message))
}
