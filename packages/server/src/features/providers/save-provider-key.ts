/** Tokens are sealed and addresses are checked. The next model call uses the change. */
import { issueAt, refuse } from '../../shared/app-error.ts'
import type { Needs } from '../deps.ts'
import { workspaceScope } from './list-providers.ts'
import { priceRuleProblem } from './price-rule.ts'
import { maskToken, type ProviderKey, tokenContext } from './provider-key.ts'

type SaveDeps = Needs<'providers' | 'stores' | 'transaction' | 'liveCache' | 'secrets' | 'clock' | 'logger'>

export interface CreateProviderKeyInput {
  workspaceId: number
  apiKeyId: number
  name: string
  provider: string
  token: string
  url?: string
  /** `''` clears the default. */
  defaultModel?: string
  configuration?: Record<string, unknown>
}

export interface UpdateProviderKeyInput extends Partial<Omit<CreateProviderKeyInput, 'provider'>> {
  workspaceId: number
  apiKeyId: number
  id: number
}

/** @throws BadRequestError for an unusable URL, token or configuration; ConflictError for a taken name. */
export async function createProviderKey(deps: SaveDeps, input: CreateProviderKeyInput): Promise<ProviderKey> {
  const { workspaceId, name, provider, token } = input
  if (provider === 'custom' && input.url === undefined) throw refused('url', 'is required for a custom provider')
  const isPlainHttp = await checkFields(deps, input)
  const fields = {
    workspaceId,
    name,
    provider,
    maskedToken: maskToken(token),
    url: input.url ?? null,
    defaultModel: input.defaultModel || null,
    configuration: input.configuration ?? {},
  }
  const seal = (id: number) => deps.secrets.seal(token, tokenContext(workspaceId, id))
  const created = await deps.transaction((stores) => stores.providerKeys.create(workspaceId, fields, seal))
  deps.liveCache.drop(workspaceScope(workspaceId))
  noteChange(deps, created, input, isPlainHttp)
  return created
}

/**
 * Absent fields stay unchanged. A new address requires the token again, because the stored token was given for the old
 * address.
 * @throws NotFoundError; BadRequestError for unusable fields or a new address without a token; ConflictError for a
 * taken name or a provider that is not stored (id 0).
 */
export async function updateProviderKey(deps: SaveDeps, input: UpdateProviderKeyInput): Promise<ProviderKey> {
  const { workspaceId, id, token } = input
  if (id === 0) throw refuse('built-in-provider-key')
  const unknown = () => refuse('unknown-provider-key')
  if (!(await deps.stores.providerKeys.findOptional(workspaceId, id))) throw unknown()
  const isPlainHttp = await checkFields(deps, input)
  const change = {
    ...(input.name === undefined ? {} : { name: input.name }),
    ...(input.url === undefined ? {} : { url: input.url }),
    ...(input.defaultModel === undefined ? {} : { defaultModel: input.defaultModel || null }),
    ...(input.configuration === undefined ? {} : { configuration: input.configuration }),
    ...(token === undefined
      ? {}
      : { maskedToken: maskToken(token), sealedToken: deps.secrets.seal(token, tokenContext(workspaceId, id)) }),
    updatedAt: deps.clock.now(),
  }
  const updated = await deps.transaction(async ({ providerKeys }) => {
    // The lock prevents a mix of this request's address with a token from a concurrent request.
    const stored = await providerKeys.lock(workspaceId, id)
    if (!stored) throw unknown()
    if (token === undefined && addressOf({ ...stored, ...change }) !== addressOf(stored)) {
      throw refused('token', 'is required when the address of the provider changes')
    }
    return providerKeys.update(workspaceId, id, change)
  })
  forgetProviders(deps, workspaceId)
  noteChange(deps, updated, input, isPlainHttp)
  return updated
}

/** Includes every field that can change the host of a call, for all kinds. */
function addressOf({ url, configuration }: Pick<ProviderKey, 'url' | 'configuration'>): string {
  return JSON.stringify([url, configuration['baseUrl'] ?? null, configuration['resourceName'] ?? null])
}

function noteChange(
  deps: SaveDeps,
  { id }: ProviderKey,
  { workspaceId, apiKeyId }: UpdateProviderKeyInput | CreateProviderKeyInput,
  isPlainHttp: boolean,
): void {
  deps.logger.info('audit.provider-key-saved', { workspaceId, providerKeyId: id, by: apiKeyId })
  if (isPlainHttp) deps.logger.warn('provider-key.plain-http', { workspaceId, providerKeyId: id })
}

/** @returns true if the token will be sent unencrypted to a public host. */
async function checkFields(
  deps: Needs<'providers'>,
  input: Pick<UpdateProviderKeyInput, 'token' | 'url' | 'configuration'>,
): Promise<boolean> {
  // A header value with a line break or other special characters would fail only in the first run.
  if (input.token !== undefined && !/^[\x21-\x7e]+$/.test(input.token)) {
    throw refused('token', 'must be printable ASCII without spaces')
  }
  const problem = configurationProblem(input.configuration ?? {})
  if (problem) throw refused(problem.path, problem.reason)
  let isPlainHttp = false
  for (const address of [input.url, input.configuration?.['baseUrl']]) {
    if (typeof address !== 'string') continue
    const reach = await deps.providers.addressGuard.assertOutboundAddress(address)
    isPlainHttp ||= reach === 'public' && new URL(address).protocol === 'http:'
  }
  return isPlainHttp
}

function configurationProblem(configuration: Record<string, unknown>): { path: string; reason: string } | undefined {
  const { endpoint, prices, resourceName } = configuration
  if (endpoint !== undefined && endpoint !== 'chat_completions' && endpoint !== 'responses') {
    return { path: 'configuration.endpoint', reason: 'must be chat_completions or responses' }
  }
  for (const key of ['resourceName', 'apiVersion', 'baseUrl']) {
    const value = configuration[key]
    if (value !== undefined && typeof value !== 'string')
      return { path: `configuration.${key}`, reason: 'must be text' }
  }
  // The name becomes part of a host name.
  if (resourceName !== undefined && !/^[a-zA-Z0-9][a-zA-Z0-9-]*$/.test(String(resourceName))) {
    return { path: 'configuration.resourceName', reason: 'must be letters, digits and hyphens' }
  }
  if (prices === undefined) return undefined
  if (!Array.isArray(prices)) return { path: 'configuration.prices', reason: 'must be a list' }
  for (const [index, rule] of prices.entries()) {
    const reason = priceRuleProblem(rule)
    if (reason !== undefined) return { path: `configuration.prices.${index}`, reason }
  }
  return undefined
}

function refused(path: string, reason: string) {
  return refuse('invalid-body', issueAt(path, reason))
}

/** @throws NotFoundError; ConflictError for a provider that is not stored (id 0). */
export async function deleteProviderKey(
  deps: Needs<'stores' | 'providers' | 'liveCache' | 'logger'>,
  input: { workspaceId: number; id: number; apiKeyId: number },
): Promise<ProviderKey> {
  const { workspaceId, id } = input
  if (id === 0) throw refuse('built-in-provider-key')
  const key = await deps.stores.providerKeys.findOptional(workspaceId, id)
  if (!key) throw refuse('unknown-provider-key')
  await deps.stores.providerKeys.delete(workspaceId, id)
  forgetProviders(deps, workspaceId)
  deps.logger.info('audit.provider-key-deleted', { workspaceId, providerKeyId: id, by: input.apiKeyId })
  return key
}

/** Clears every resolved provider, because the old token must not stay in memory. */
function forgetProviders(deps: Needs<'providers' | 'liveCache'>, workspaceId: number): void {
  deps.liveCache.drop(workspaceScope(workspaceId))
  deps.providers.resolved.clear()
}
