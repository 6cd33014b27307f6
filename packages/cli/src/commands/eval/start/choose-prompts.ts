import type { Stet } from '@stet/sdk'
import type { Context } from '../../../context.ts'
import { CliError } from '../../../exit-code.ts'
import { promptNamed } from '../../../sync/prompt-path.ts'
import type { Compared } from './choose-arms.ts'

export interface ChosenPrompt {
  path: string
  /** The baseline lacks the prompt. */
  isNew: boolean
}

/** The named prompts, or those that the draft changes and that have examples (with the tag). */
export async function choosePrompts(
  client: Stet,
  { candidate, baseline, isFirst }: Compared,
  { names, tag }: { names: readonly string[]; tag?: string | undefined },
  ctx: Context,
): Promise<ChosenPrompt[]> {
  const isComparable = baseline !== undefined && baseline.uuid !== candidate.uuid
  const base = isComparable ? { base: baseline.uuid } : {}
  // Without anything live, the draft adds all of its prompts.
  const changes = isComparable || isFirst ? (await client.versions.diff(candidate.uuid, base)).changes : []
  const added = new Set(
    changes.flatMap(({ path, status, movedFrom }) => (status === 'added' && !movedFrom ? path : [])),
  )
  if (names.length > 0) {
    const paths = await Promise.all(names.map((name) => promptNamed(name, ctx)))
    return [...new Set(paths)].map((path) => ({ path, isNew: added.has(path) }))
  }
  if (!isComparable && !isFirst) {
    throw new CliError('usage', 'Missing input: the prompts', { hint: 'run stet eval <path>' })
  }
  const chosen: ChosenPrompt[] = []
  for (const { path, status, documentUuid } of changes) {
    if (status === 'deleted') continue
    const examples = await client.examples.list(documentUuid, { summary: true })
    if (examples.some(({ tags }) => tag === undefined || tags.includes(tag)))
      chosen.push({ path, isNew: added.has(path) })
    else ctx.say(`${path} has no examples${tag === undefined ? '' : ` with the tag ${tag}`}: skipped`)
  }
  return chosen
}
