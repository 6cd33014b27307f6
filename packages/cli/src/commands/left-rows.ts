/** Examples belong to a prompt, not to its path. A new prompt does not get those of a deleted one. */
import type { Change, Stet } from '@stet/sdk'
import type { Context } from '../context.ts'
import type { Compared } from '../sync/compare.ts'
import { countOf } from '../terminal/output.ts'

/** Looks at a few prompts, because each takes a request. */
const mostPrompts = 10

/** Warns of examples that stay behind if a push deletes their prompt and creates another one, instead of moving it. */
export async function warnOfLeftRows(
  client: Stet,
  { changes, selected }: { changes: readonly Change[]; selected: readonly Compared[] },
  ctx: Context,
): Promise<void> {
  if (!changes.some(({ status }) => status === 'added')) return
  const deleted = changes.filter(({ status }) => status === 'deleted').slice(0, mostPrompts)
  for (const { path } of deleted) {
    const documentUuid = selected.find((one) => one.path === path)?.documentUuid
    if (documentUuid === undefined) continue
    const { length } = await client.examples.list(documentUuid, { summary: true })
    if (length > 0)
      ctx.warn(
        `${countOf(length, 'example')} of ${path} will stay with the deleted prompt; ${ctx.program} mv keeps them`,
      )
  }
}
