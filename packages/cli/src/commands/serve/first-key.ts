import type { Context } from '../../context.ts'
import { readCredentials, writeCredentials } from '../../settings/credentials.ts'
import { normalizeAddress } from '../../settings/resolve.ts'

/** The profile in which `serve` saves a first key. */
export const localProfile = 'local'

/** The key that only a first start prints. */
export function findFirstKey(news: readonly string[]): string | undefined {
  return /stet_[0-9A-Za-z]{36}/.exec(news.join('\n'))?.[0]
}

/** Saves the key in the profile `local` if the user agrees. @returns whether it was saved */
export async function keepFirstKey(apiKey: string, address: string, ctx: Context): Promise<boolean> {
  if (!ctx.isInteractive && !ctx.flags.yes) return false
  const { credentialsFile } = await ctx.settings()
  const before = (await readCredentials(credentialsFile, ctx.warn))[localProfile]
  const replaced = before ? ` It replaces the login for ${before.baseUrl}.` : ''
  if (!(await ctx.confirm(`Save the first API key in profile "${localProfile}"?${replaced}`, '--yes'))) return false
  // Read again: another login may have happened during the question.
  const credentials = await readCredentials(credentialsFile, ctx.warn)
  credentials[localProfile] = { baseUrl: normalizeAddress(address), apiKey, keyName: 'admin' }
  await writeCredentials(credentialsFile, credentials)
  return true
}
