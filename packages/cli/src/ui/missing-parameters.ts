import type { Context } from '../context.ts'
import { CliError } from '../exit-code.ts'

/**
 * Starts something with parameters, and asks for those that the server misses. It names them before a run begins: that
 * costs a human one more request, and nobody else anything.
 */
export async function withMissingParameters<T>(
  start: (parameters: Record<string, unknown>) => Promise<T>,
  parameters: Record<string, unknown>,
  ctx: Context,
): Promise<T> {
  const { UnprocessableEntityError } = await import('@stet/sdk')
  try {
    return await start(parameters)
  } catch (error) {
    const missing = error instanceof UnprocessableEntityError ? missingOf(error.details) : []
    if (missing.length === 0) throw error
    if (!ctx.isInteractive) {
      const flags = missing.map((name) => `-p ${name}=…`).join(' ')
      throw new CliError('usage', `Missing parameters: ${missing.join(', ')}`, { hint: flags })
    }
    const asked: Record<string, unknown> = {}
    for (const name of missing) asked[name] = await ctx.ask({ message: name, flag: `-p ${name}=…` })
    return start({ ...parameters, ...asked })
  }
}

function missingOf(details: unknown): string[] {
  if (typeof details !== 'object' || details === null || !('missing' in details)) return []
  return Array.isArray(details.missing) ? details.missing.filter((name) => typeof name === 'string') : []
}
