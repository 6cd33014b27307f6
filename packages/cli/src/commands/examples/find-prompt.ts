import type { Context } from '../../context.ts'
import { promptNamed } from '../../sync/prompt-path.ts'
import { findVersionToRun } from '../../sync/version-ref.ts'
import type { Target } from './rows/send-rows.ts'

interface FoundPrompt extends Target {
  path: string
  /** Names of all that it reads. Undefined if it does not compile. */
  parameters: readonly string[] | undefined
}

/** Finds the prompt in the version that the folder follows. Its examples belong to all versions. */
export async function findPrompt(name: string, ctx: Context): Promise<FoundPrompt> {
  const projectId = await ctx.projectId()
  const client = await ctx.client()
  const path = await promptNamed(name, ctx)
  const { documentUuid, parameters, errors } = await client.prompts.get(path, {
    versionUuid: await findVersionToRun(client, ctx),
  })
  const known = errors.length === 0 ? Object.keys(parameters) : undefined
  return { client, projectId, documentUuid, path, parameters: known }
}
