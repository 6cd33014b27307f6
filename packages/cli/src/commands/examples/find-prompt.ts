import type { Context } from '../../context.ts'
import { promptNamed } from '../../sync/prompt-path.ts'
import { findVersionToRun } from '../../sync/version-ref.ts'
import type { Target } from './rows/send-rows.ts'

/** Finds the prompt in the version that the folder follows. Its examples belong to all versions. */
export async function findPrompt(
  name: string,
  ctx: Context,
): Promise<Target & { path: string; parameters: readonly string[] }> {
  const projectId = await ctx.projectId()
  const client = await ctx.client()
  const path = await promptNamed(name, ctx)
  const { documentUuid, parameters } = await client.prompts.get(path, {
    versionUuid: await findVersionToRun(client, ctx),
  })
  return { client, projectId, documentUuid, path, parameters: Object.keys(parameters) }
}
