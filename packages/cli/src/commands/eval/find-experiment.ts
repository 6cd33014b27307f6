import type { Experiment } from '@stet/sdk'
import type { Context } from '../../context.ts'
import { CliError } from '../../exit-code.ts'
import { isUuid } from '../../ui/recent-conversations.ts'

export const experimentArgument = { '<experiment>': 'its uuid, or the first 8 digits' } as const

const MOST_SEARCHED = 1000

/** Finds an experiment of the project by its uuid, or by at least its first 8 digits among the newest 1,000. */
export async function findExperiment(ref: string, ctx: Context): Promise<Experiment> {
  const { experiments } = await ctx.client()
  if (isUuid(ref)) return experiments.get(ref.toLowerCase())
  if (!/^[0-9a-f-]{8,36}$/i.test(ref)) {
    throw new CliError('usage', `Invalid experiment: ${ref}`, { hint: 'use a uuid, or at least its first 8 digits' })
  }
  await ctx.projectId()
  const found: Experiment[] = []
  let searched = 0
  for await (const one of experiments.list({ limit: 100 })) {
    if (one.uuid.startsWith(ref.toLowerCase())) found.push(one)
    searched += 1
    if (searched === MOST_SEARCHED) break
  }
  const [only, ...others] = found
  if (only && others.length === 0) return only
  if (!only) throw new CliError('not_found', `No experiment begins with ${ref}`, { hint: 'pass the whole uuid' })
  throw new CliError('usage', `Several experiments begin with ${ref}`, {
    lines: found.map(({ uuid, path, createdAt }) => `${uuid}  ${path}  ${createdAt}`),
  })
}
