/** Creates, updates and deletes provider keys. Seals tokens, and checks addresses before they are stored. */
import type { CreateProviderKeyBody, UpdateProviderKeyBody } from '@stet/contract/vocabulary'
import { defined } from '@stet/template/defined'
import { issueAt, refuse } from '../../shared/app-error.ts'
import type { Needs } from '../deps.ts'
import { workspaceScope } from './list-providers.ts'
import { maskToken, type ProviderKey, tokenContext } from './provider-key.ts'
import { priceRuleProblem } from './usage.ts'

type SaveDeps = Needs<'providers' | 'stores' | 'transaction' | 'liveCache' | 'secrets' | 'clock' | 'logger'>

interface Caller {
  workspaceId: number
  apiKeyId: number
}

/** @throws BadRequestError for an unusable URL, token or configuration; ConflictError for a taken name. */
export async function createProviderKey(deps: SaveDeps, input: Caller & CreateProviderKeyBody): Promise<ProviderKey> {
  const { workspaceId, name, provider, token, url = null, configuration = {} } = input
  if (provider === 'custom' && url === null) throw refused('url', 'is required for a custom provider')
  const isPlainHttp = await checkFields(deps, input)
  const defaultModel = input.defaultModel || null
  const fields = { workspaceId, name, provider, maskedToken: maskToken(token), url, defaultModel, configuration }
  const seal = (id: number) => deps.secrets.seal(token, tokenContext(workspaceId, id))
  const created = await deps.transaction((stores) => stores.providerKeys.create(workspaceId, fields, seal))
  await noteSaved(deps, created, input, isPlainHttp)
  return created
}

/**
 * Absent fields stay unchanged. A new address requires the token again, because the stored token was given for the old
 * address.
 * @throws NotFoundError; BadRequestError for unusable fields or a new address without a token; ConflictError for a
 * taken name or a provider that is not stored (id 0).
 */
export async function updateProviderKey(
  deps: SaveDeps,
  input: Caller & UpdateProviderKeyBody & { id: number },
): Promise<ProviderKey> {
  const { workspaceId, id, name, url, token, defaultModel, configuration } = input
  await findStored(deps, input)
  const isPlainHttp = await checkFields(deps, input)
  const change = defined({
    name,
    url,
    configuration,
    defaultModel: defaultModel === undefined ? undefined : defaultModel || null,
    maskedToken: token && maskToken(token),
    sealedToken: token && deps.secrets.seal(token, tokenContext(workspaceId, id)),
    updatedAt: deps.clock.now(),
  })
  const updated = await deps.transaction(async ({ providerKeys }) => {
    // Without the lock, this request's address could be stored with the token of a concurrent request.
    const stored = await providerKeys.lock(workspaceId, id)
    if (!stored) throw refuse('unknown-provider-key')
    if (token === undefined && addressOf({ ...stored, ...change }) !== addressOf(stored)) {
      throw refused('token', 'is required when the address of the provider changes')
    }
    return providerKeys.update(workspaceId, id, change)
  })
  await noteSaved(deps, updated, input, isPlainHttp)
  return updated
}

/** Includes every field that can change the host of a model call, for every kind of provider. */
function addressOf({ url, configuration }: Pick<ProviderKey, 'url' | 'configuration'>): string {
  return JSON.stringify([url, configuration['baseUrl'] ?? null, configuration['resourceName'] ?? null])
}

async function noteSaved(
  deps: SaveDeps,
  { id }: ProviderKey,
  { workspaceId, apiKeyId }: Caller,
  isPlainHttp: boolean,
): Promise<void> {
  await forgetProviders(deps, workspaceId)
  deps.logger.info('audit.provider-key-saved', { workspaceId, providerKeyId: id, by: apiKeyId })
  if (isPlainHttp) deps.logger.warn('provider-key.plain-http', { workspaceId, providerKeyId: id })
}

/** @returns true if a public address uses http, so that the token would be sent unencrypted. */
async function checkFields(
  deps: Needs<'providers'>,
  { token, url, configuration = {} }: UpdateProviderKeyBody,
): Promise<boolean> {
  // The token becomes a header value. Without this check, an invalid character would fail only in the first run.
  if (token !== undefined && !/^[\x21-\x7e]+$/.test(token)) {
    throw refused('token', 'must be printable ASCII without spaces')
  }
  checkConfiguration(configuration)
  let isPlainHttp = false
  for (const [path, address] of [
    ['url', url],
    ['configuration.baseUrl', configuration['baseUrl']],
  ] as const) {
    if (typeof address !== 'string') continue
    const reach = await deps.providers.addressGuard.assertOutboundAddress(address)
    const { protocol, pathname } = new URL(address)
    // Examples for curl contain the operation. A call appends it, so every call would fail with 404.
    const operation = /\/(chat\/completions|completions|responses|messages)\/*$/.exec(pathname)?.[1]
    if (operation) throw refused(path, `must be the base address, without /${operation}`)
    isPlainHttp ||= reach === 'public' && protocol === 'http:'
  }
  return isPlainHttp
}

function checkConfiguration(configuration: Record<string, unknown>): void {
  const { endpoint, prices = [], resourceName, streamOptions = true } = configuration
  if (endpoint !== undefined && endpoint !== 'chat_completions' && endpoint !== 'responses') {
    throw refused('configuration.endpoint', 'must be chat_completions or responses')
  }
  if (typeof streamOptions !== 'boolean') throw refused('configuration.streamOptions', 'must be true or false')
  for (const key of ['resourceName', 'apiVersion', 'baseUrl']) {
    const value = configuration[key]
    if (value !== undefined && typeof value !== 'string') throw refused(`configuration.${key}`, 'must be text')
  }
  // `resourceName` becomes part of a host name.
  if (resourceName !== undefined && !/^[a-zA-Z0-9][a-zA-Z0-9-]*$/.test(String(resourceName))) {
    throw refused('configuration.resourceName', 'must be letters, digits and hyphens')
  }
  if (!Array.isArray(prices)) throw refused('configuration.prices', 'must be a list')
  for (const [index, rule] of prices.entries()) {
    const reason = priceRuleProblem(rule)
    if (reason !== undefined) throw refused(`configuration.prices.${index}`, reason)
  }
}

function refused(path: string, reason: string) {
  return refuse('invalid-body', issueAt(path, reason))
}

/** @throws NotFoundError; ConflictError for a provider that is not stored (id 0). */
export async function deleteProviderKey(
  deps: Needs<'stores' | 'providers' | 'liveCache' | 'logger'>,
  input: Caller & { id: number },
): Promise<ProviderKey> {
  const { workspaceId, id } = input
  const key = await findStored(deps, input)
  await deps.stores.providerKeys.delete(workspaceId, id)
  await forgetProviders(deps, workspaceId)
  deps.logger.info('audit.provider-key-deleted', { workspaceId, providerKeyId: id, by: input.apiKeyId })
  return key
}

async function findStored(deps: Needs<'stores'>, { workspaceId, id }: Caller & { id: number }): Promise<ProviderKey> {
  if (id === 0) throw refuse('built-in-provider-key')
  const key = await deps.stores.providerKeys.findOptional(workspaceId, id)
  if (!key) throw refuse('unknown-provider-key')
  return key
}

/** Clears all resolved providers, so that the old token does not stay in the cache. */
async function forgetProviders(deps: Needs<'providers' | 'liveCache'>, workspaceId: number): Promise<void> {
  await deps.liveCache.drop(workspaceScope(workspaceId))
  deps.providers.resolved.clear()
}
