import { isIP } from 'node:net'
import type { Prompt, ProviderKeyInfo, Stet } from '@stet/sdk'
import type { Context } from '../../context.ts'
import { CliError } from '../../exit-code.ts'

/**
 * Asks before runs that may cost money. Does not ask if every provider key that the prompt can use is `demo`, or has an
 * address on this machine or in a private network. An API key that may not read prompts or provider keys leaves the
 * provider unknown, so the question is asked.
 * @throws CliError usage if the answer is no, or if questions are impossible and --yes is missing
 */
export async function confirmCost(
  client: Stet,
  prompt: { path: string; versionUuid: string; howMany: string },
  ctx: Context,
): Promise<void> {
  const found = await unlessForbidden(client.prompts.get(prompt.path, { versionUuid: prompt.versionUuid }))
  const named = found && (await paidProviders(client, found))
  if (named?.length === 0) return
  const provider = named ? `the provider ${named.join(' or ')}` : 'a provider that this API key cannot look up'
  const warning = `Model calls to ${provider} may cost money: ${prompt.howMany}, each with one or more calls`
  if (ctx.flags.yes) ctx.warn(warning)
  else if (!(await ctx.confirm(`${warning}. Continue?`, '--yes'))) throw new CliError('usage', 'Nothing was run')
}

/** Returns the descriptions of provider keys that may cost money. Undefined if the provider keys cannot be determined. */
async function paidProviders(client: Stet, prompt: Prompt): Promise<string[] | undefined> {
  const { config, resolvedContent } = prompt
  const name = typeof config.provider === 'string' ? config.provider : undefined
  // Subagents and steps may use other providers than the prompt.
  const [, ...steps] = resolvedContent.split(/<step\b/)
  if ('agents' in config || steps.some((rest) => /^[^>]*\bprovider\b/.test(rest))) return undefined
  const keys = await unlessForbidden(client.providerKeys.list())
  if (!keys) return name !== undefined && isDemo({ name, provider: prompt.provider }) ? [] : undefined
  const isNamed = (key: ProviderKeyInfo): boolean => key.name.toLowerCase() === name?.toLowerCase()
  // Without a name in the prompt, the default of the project or of the server decides, which may be any provider key.
  const candidates = name === undefined ? keys : keys.filter(isNamed)
  return candidates
    .filter((key) => !(key.id === 0 && isDemo(key)) && !isNearby(key.url))
    .map((key) => `"${key.name}" (${key.provider})`)
}

function isDemo({ name, provider }: { name: string; provider: string | undefined }): boolean {
  return name.toLowerCase() === 'demo' && provider === 'custom'
}

/** Whether the address is on this machine or in a private network, where test providers and local models run. */
export function isNearby(url: string | null): boolean {
  if (url === null || !URL.canParse(url)) return false
  const host = new URL(url).hostname.replace(/^\[(.*)\]$/, '$1')
  if (isIP(host) === 4) return /^(127|10|192\.168|172\.(1[6-9]|2\d|3[01]))\./.test(host)
  if (isIP(host) === 6) return /^(::1$|f[cd])/.test(host)
  // A name without a dot is that of a container or of a machine in the local network.
  return !host.includes('.') || /\.(localhost|local|internal)$/.test(host)
}

async function unlessForbidden<T>(request: PromiseLike<T>): Promise<T | undefined> {
  const { ForbiddenError } = await import('@stet/sdk')
  try {
    return await request
  } catch (error) {
    if (error instanceof ForbiddenError) return undefined
    throw error
  }
}
