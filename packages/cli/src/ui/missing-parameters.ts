import type { Context } from '../context.ts'
import { CliError } from '../exit-code.ts'

/** Starts a run and asks for missing parameters. The server names them before a run begins, so only a run that misses some costs another request. */
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
