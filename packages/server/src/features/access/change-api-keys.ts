/** Issues, rotates and revokes API keys. */
import type { CreateApiKeyBody } from '@stet/contract/vocabulary'
import { issueAt, refuse } from '../../shared/app-error.ts'
import type { Author, Caller } from '../../shared/caller.ts'
import type { Needs, Stores } from '../deps.ts'
import {
  type ApiKey,
  apiKeyPrefix,
  defaultScopes,
  generateApiKey,
  hashApiKey,
  type IssuedApiKey,
  keyScope,
  limitOf,
} from './api-key.ts'

/**
 * Returns the clear key. The table contains only the key's hash.
 * @throws AppError BadRequestError for an invalid expiry, or for the pricing plan `custom` without a limit;
 * NotFoundError for an unknown project.
 */
export async function issueApiKey(
  deps: Needs<'stores' | 'transaction' | 'clock' | 'logger'>,
  input: Omit<CreateApiKeyBody, 'expiresAt'> & { caller: Caller; expiresAt?: Date | undefined },
): Promise<IssuedApiKey> {
  const { caller, name, scopes = defaultScopes, projectId = null, expiresAt, plan = 'team', limit } = input
  const { workspaceId } = caller
  limitOf(plan, limit)
  assertExpiry(expiresAt, deps.clock.now())
  if (projectId !== null && !(await deps.stores.projects.findOptional(workspaceId, projectId))) {
    throw refuse('unknown-project')
  }
  const key = generateApiKey()
  const fields = {
    workspaceId,
    name,
    hash: hashApiKey(key),
    prefix: apiKeyPrefix(key),
    scopes: [...new Set(scopes)],
    projectId,
    plan,
    customLimit: plan === 'custom' ? (limit ?? null) : null,
    expiresAt: expiresAt ?? null,
  }
  const issued = await deps.transaction(async (stores) => {
    await stores.apiKeys.lockKeys(workspaceId)
    const author = await (input.author
      ? authorWithEmail(stores, workspaceId, input.author)
      : authorNamed(stores, workspaceId, name))
    return { apiKey: await stores.apiKeys.create(workspaceId, { ...fields, author }), key }
  })
  deps.logger.info('audit.api-key-issued', { workspaceId, apiKeyId: issued.apiKey.id, by: caller.apiKeyId })
  return issued
}

/** Ends the e-mail addresses of authors who are programs. */
const programDomain = '@localhost'

/** Lists the people who can manage the workspace, by name. */
export async function listAdmins({ stores, clock }: Needs<'stores' | 'clock'>, workspaceId: number): Promise<Author[]> {
  const admins = await stores.apiKeys.listAdmins(workspaceId, clock.now())
  return admins
    .filter(({ email }) => !email.endsWith(programDomain))
    .sort((left, right) => (left.name < right.name || (left.name === right.name && left.id < right.id) ? -1 : 1))
}

// A key's name identifies a person or program. Keys with the same name share an author.
async function authorNamed({ workspaces }: Stores, workspaceId: number, name: string): Promise<Author> {
  const known = await workspaces.findAuthor(workspaceId, { name })
  return known ?? workspaces.createAuthor(workspaceId, { name, email: mailboxOf(name) + programDomain })
}

// A person keeps the stored name, because versions already show it.
async function authorWithEmail(
  { workspaces }: Stores,
  workspaceId: number,
  author: Omit<Author, 'id'>,
): Promise<Author> {
  const known = await workspaces.findAuthorByEmail(workspaceId, author.email)
  return known ?? workspaces.createAuthor(workspaceId, author)
}

// A version shows its author's email address. Legacy clients require the address.
function mailboxOf(name: string): string {
  const ascii = name.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase()
  const words = ascii.match(/[a-z0-9]+/g) ?? ['key']
  return words.join('-').slice(0, 64)
}

// The check uses UTC: an instant in 9999 with an offset can fall into year 10000, which does not fit four digits.
function assertExpiry(expiresAt: Date | undefined, now: Date): void {
  if (!expiresAt) return
  if (expiresAt <= now) throw invalidExpiry('must be in the future')
  if (expiresAt.getUTCFullYear() > 9999) throw invalidExpiry('must be before the year 10000')
}

function invalidExpiry(message: string): Error {
  return refuse('invalid-body', issueAt('expiresAt', message))
}

/** @throws AppError NotFoundError; ConflictError for a revoked or expired key. */
export async function rotateApiKey(
  deps: Needs<'transaction' | 'liveCache' | 'clock' | 'logger'>,
  { caller, id, overlapSeconds }: { caller: Caller; id: number; overlapSeconds: number },
): Promise<IssuedApiKey> {
  const { workspaceId } = caller
  const now = deps.clock.now()
  const key = generateApiKey()
  const { oldHash, ...rotated } = await deps.transaction(async (stores) => {
    await stores.apiKeys.lockKeys(workspaceId)
    const old = await stores.apiKeys.findOptional(workspaceId, id)
    if (!old) throw refuse('unknown-api-key')
    if (old.revokedAt) throw refuse('revoked-key')
    if (old.expiresAt && old.expiresAt <= now) throw refuse('expired-key')
    await endKey(stores, old, now, overlapSeconds)
    return { apiKey: await stores.apiKeys.create(workspaceId, successorOf(old, key)), key, oldHash: old.hash }
  })
  await deps.liveCache.drop(keyScope(oldHash))
  const { apiKey } = rotated
  deps.logger.info('audit.api-key-rotated', { workspaceId, apiKeyId: id, successorId: apiKey.id, by: caller.apiKeyId })
  return rotated
}

function successorOf(old: ApiKey, key: string) {
  const { workspaceId, name, scopes, projectId, plan, author, expiresAt, limit } = old
  const customLimit = plan === 'custom' ? limit : null
  const secret = { hash: hashApiKey(key), prefix: apiKeyPrefix(key) }
  return { workspaceId, name, scopes, projectId, plan, author, expiresAt, customLimit, ...secret }
}

// The overlap never postpones the old key's expiry.
async function endKey(stores: Stores, old: ApiKey, now: Date, overlapSeconds: number): Promise<void> {
  if (overlapSeconds === 0) return stores.apiKeys.revoke(old.workspaceId, old.id, now)
  const end = new Date(now.getTime() + overlapSeconds * 1000)
  if (old.expiresAt === null || end < old.expiresAt) await stores.apiKeys.setExpiry(old.workspaceId, old.id, end)
}

/** Idempotent. @throws AppError NotFoundError; ConflictError for the last usable admin key. */
export async function revokeApiKey(
  deps: Needs<'transaction' | 'liveCache' | 'clock' | 'logger'>,
  input: { caller: Caller; id: number },
): Promise<ApiKey> {
  const { workspaceId } = input.caller
  const now = deps.clock.now()
  const { key, isNew } = await deps.transaction(async (stores) => {
    await stores.apiKeys.lockKeys(workspaceId)
    const found = await stores.apiKeys.findOptional(workspaceId, input.id)
    if (!found) throw refuse('unknown-api-key')
    if (found.revokedAt) return { key: found, isNew: false }
    const isUsableAdmin = found.scopes.includes('admin') && (found.expiresAt === null || found.expiresAt > now)
    if (isUsableAdmin && (await stores.apiKeys.countOtherAdminKeys(workspaceId, found.id, now)) === 0) {
      throw refuse('last-admin-key')
    }
    await stores.apiKeys.revoke(workspaceId, found.id, now)
    return { key: { ...found, revokedAt: now }, isNew: true }
  })
  await deps.liveCache.drop(keyScope(key.hash))
  if (isNew) deps.logger.info('audit.api-key-revoked', { workspaceId, apiKeyId: key.id, by: input.caller.apiKeyId })
  return key
}
