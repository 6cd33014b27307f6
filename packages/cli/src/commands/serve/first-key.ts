import type { Context } from '../../context.ts'
import { readCredentials, writeCredentials } from '../../settings/credentials.ts'
import { normalizeAddress } from '../../settings/resolve.ts'

/** The profile that `serve` keeps a first key for. */
export const localProfile = 'local'

/** The key that a first start prints, this one time. */
export function findFirstKey(news: readonly string[]): string | undefined {
  return /stet_[0-9A-Za-z]{36}/.exec(news.join('\n'))?.[0]
}

/** Keeps the key for the profile `local` if somebody agrees. @returns whether it was kept */
export async function keepFirstKey(apiKey: string, address: string, ctx: Context): Promise<boolean> {
  if (!ctx.isInteractive && !ctx.flags.yes) return false
  const { credentialsFile } = await ctx.settings()
  const before = (await readCredentials(credentialsFile, ctx.warn))[localProfile]
  const replaced = before ? ` It replaces the login for ${before.baseUrl}.` : ''
  if (!(await ctx.confirm(`Keep the first API key as profile "${localProfile}"?${replaced}`, '--yes'))) return false
  // Read again: somebody may have logged in while the question stood.
  const credentials = await readCredentials(credentialsFile, ctx.warn)
  credentials[localProfile] = { baseUrl: normalizeAddress(address), apiKey, keyName: 'admin' }
  await writeCredentials(credentialsFile, credentials)
  return true
}
