import type { Hooks, Me, Stet, StetOptions } from '@stet/sdk'
import { CliError } from '../exit-code.ts'
import type { Io } from '../io.ts'
import type { GlobalFlags } from './global-flags.ts'
import type { Settings } from './resolve.ts'

/** The maximum number of attempts to reconnect a broken stream. Each new event resets the count. */
export const maxReconnects = 3

export async function createClient(ctx: { flags: GlobalFlags; io: Io }, settings: Settings): Promise<Stet> {
  const { apiKey, baseUrl, withheld, projectId, timeoutMs } = settings
  if (!apiKey && withheld) throw new CliError('not_allowed', withheld.message, { hint: withheld.hint })
  if (!apiKey) throw new CliError('not_allowed', 'No API key', { hint: 'run stet login, or set STET_API_KEY' })
  const { Stet } = await import('@stet/sdk')
  const streaming = { resume: ctx.flags.retry && { maxAttempts: maxReconnects } }
  const options: StetOptions = { apiKey: apiKey.value, baseUrl: baseUrl.value, logLevel: 'off', streaming }
  if (projectId) options.projectId = projectId.value
  if (timeoutMs !== undefined) options.timeout = timeoutMs
  if (!ctx.flags.retry) options.maxRetries = 0
  if (ctx.flags.debug || ctx.io.env['STET_DEBUG'] === 'api') options.hooks = debugHooks(ctx.io)
  return new Stet(options)
}

/**
 * Throws if the server is older than publishing in one request, merging and rolling back. It would ignore the fields
 * that it does not support, and answer with an empty draft.
 */
export async function requireReleases(client: Stet): Promise<Me> {
  const me = await client.me()
  if (me.features.includes('releases')) return me
  throw new CliError('unexpected', 'The server lacks the feature "releases"; nothing was sent', {
    hint: 'upgrade the server',
  })
}

// Prints no headers, because they contain the API key.
function debugHooks(io: Io): Hooks {
  return {
    onRequest: ({ method, url, attempt }) => io.err(`> ${method} ${url} (attempt ${attempt}, key masked)\n`),
    onResponse: ({ status, requestId, durationMs }) =>
      io.err(`< ${status} ${requestId ?? ''} ${Math.round(durationMs)} ms\n`),
  }
}
