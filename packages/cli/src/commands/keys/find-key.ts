import type { ApiKeyInfo, Stet } from '@stet/sdk'
import { CliError } from '../../exit-code.ts'

/** Finds a key by id or prefix. Revoked keys match by id only. */
export async function findKey(client: Stet, ref: string): Promise<ApiKeyInfo> {
  const keys = await client.apiKeys.list()
  const byId = keys.find(({ id }) => String(id) === ref)
  if (byId) return byId
  const matches = ref.startsWith('stet_')
    ? keys.filter(({ prefix, revokedAt }) => revokedAt === null && ref.startsWith(prefix))
    : []
  const [only, ...others] = matches
  if (only && others.length === 0) return only
  // The error omits `ref`, which may be a whole key.
  if (!only) throw new CliError('not_found', 'No API key has this id or prefix', { hint: 'run stet keys list' })
  const lines = matches.map(({ id, prefix, name }) => `${id}  ${prefix}  ${name}`)
  throw new CliError('usage', 'Several API keys have this prefix', { lines, hint: 'use the id' })
}

export function describeKey({ name, scopes, expiresAt, projectId }: ApiKeyInfo): string {
  const parts = [`"${name}"`, scopes.join(', ')]
  if (projectId !== null) parts.push(`project ${projectId}`)
  if (expiresAt !== null) parts.push(`expires ${expiresAt.slice(0, 10)}`)
  return parts.join(' · ')
}
