import { join } from 'node:path'
import { CliError } from '../../../exit-code.ts'
import { isJsonObject } from '../../../settings/json-file.ts'
import { readLatitudeLock } from '../../../settings/latitude-lock.ts'
import { type Refusal, scanPrompts } from '../../../sync/scan.ts'
import type { ForeignPrompt } from '../imported-prompt.ts'

const TIMEOUT_MS = 60_000

/**
 * Reads the discontinued service's prompt files: a folder of `.promptl` files, or a project whose `latitude-lock.json` names
 * the folder in `rootFolder`. Texts are copied unchanged, because the language is the same.
 */
export async function readLatitudeFolder(folder: string): Promise<{ prompts: ForeignPrompt[]; refused: Refusal[] }> {
  const lock = await readLatitudeLock(folder)
  const root = lock ? join(folder, lock.rootFolder) : folder
  const { prompts, refused } = await scanPrompts(root, ['**/*.promptl'], ['**/node_modules/**'])
  return { prompts: [...prompts].map(([path, { text }]) => ({ path, text, losses: [] })), refused }
}

/**
 * Fetches prompts through API v3 of the discontinued service: `GET …/projects/{id}/versions/{uuid}/documents`. Uses
 * live unless the address names a version.
 * @param key sent only to this address
 */
export async function readLatitudeServer(address: string, key: string): Promise<ForeignPrompt[]> {
  const match = /^(https?:\/\/[^@]+?\/projects\/\d+)(?:\/versions\/([^/]+))?\/?$/.exec(address)
  if (!match) {
    throw new CliError('usage', 'Not a project URL', {
      hint: 'use https://<host>/api/v3/projects/<id>; add /versions/<uuid> for a version other than live',
    })
  }
  const url = `${match[1]}/versions/${match[2] ?? 'live'}/documents`
  const response = await fetch(url, {
    headers: { authorization: `Bearer ${key}` },
    redirect: 'error',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).catch((error: unknown) => {
    throw new CliError('unreachable', `${url}: ${error instanceof Error ? error.message : error}`)
  })
  if (response.status === 401 || response.status === 403)
    throw new CliError('not_allowed', `${url}: ${response.status}`)
  if (!response.ok) throw new CliError('not_found', `${url}: ${response.status}`)
  const documents: unknown = await response.json()
  if (!Array.isArray(documents)) throw new CliError('invalid', `${url} did not return a list of documents`)
  return documents.filter(isJsonObject).flatMap(({ path, content }) => {
    return typeof path === 'string' && typeof content === 'string' ? [{ path, text: content, losses: [] }] : []
  })
}
