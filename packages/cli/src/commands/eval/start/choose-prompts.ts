import type { Stet } from '@stet/sdk'
import type { Context } from '../../../context.ts'
import { CliError } from '../../../exit-code.ts'
import { promptNamed } from '../../../sync/prompt-path.ts'
import { countOf } from '../../../terminal/output.ts'
import type { Compared } from './choose-arms.ts'

export interface ChosenPrompt {
  path: string
  /** The baseline lacks the prompt. */
  isNew: boolean
}

export interface Choice {
  prompts: ChosenPrompt[]
  /** Why the tag leaves nothing that could be trusted: a typing error in a tag must not look like a pass. */
  emptied?: string
}

const mostSkippedLines = 5

/** The named prompts, or those that the draft changes and that have examples (with the tag). */
export async function choosePrompts(
  client: Stet,
  { candidate, baseline, isFirst }: Compared,
  { names, tag }: { names: readonly string[]; tag?: string | undefined },
  ctx: Context,
): Promise<Choice> {
  const isComparable = baseline !== undefined && baseline.uuid !== candidate.uuid
  const base = isComparable ? { base: baseline.uuid } : {}
  // Without anything live, the draft adds all of its prompts.
  const changes = isComparable || isFirst ? (await client.versions.diff(candidate.uuid, base)).changes : []
  const added = new Set(
    changes.flatMap(({ path, status, movedFrom }) => (status === 'added' && !movedFrom ? path : [])),
  )
  if (names.length > 0) {
    const paths = await Promise.all(names.map((name) => promptNamed(name, ctx)))
    const prompts = [...new Set(paths)].map((path) => ({ path, isNew: added.has(path) }))
    if (tag === undefined) return { prompts }
    const without: string[] = []
    for (const { path } of prompts) {
      const { documentUuid } = await client.prompts.get(path, { versionUuid: candidate.uuid })
      if (!(await rowsOf(client, documentUuid, tag)).hasChosen) without.push(path)
    }
    if (without.length === 0) return { prompts }
    const verb = without.length === 1 ? 'has' : 'have'
    return { prompts: [], emptied: `${without.join(', ')} ${verb} no examples with the tag ${tag}` }
  }
  if (!isComparable && !isFirst) {
    throw new CliError('usage', 'Missing input: the prompts', { hint: 'run stet eval <path>' })
  }
  const prompts: ChosenPrompt[] = []
  const skipped: string[] = []
  let hasRows = false
  for (const { path, status, documentUuid } of changes) {
    if (status === 'deleted') continue
    const rows = await rowsOf(client, documentUuid, tag)
    hasRows ||= rows.hasAny
    if (rows.hasChosen) prompts.push({ path, isNew: added.has(path) })
    else skipped.push(path)
  }
  if (tag !== undefined && hasRows && prompts.length === 0)
    return { prompts, emptied: `No example of the changed prompts has the tag ${tag}` }
  saySkipped(skipped, tag, ctx)
  return { prompts }
}

async function rowsOf(
  client: Stet,
  documentUuid: string,
  tag: string | undefined,
): Promise<{ hasAny: boolean; hasChosen: boolean }> {
  const examples = await client.examples.list(documentUuid, { summary: true })
  const hasChosen = examples.some(({ tags }) => tag === undefined || tags.includes(tag))
  return { hasAny: examples.length > 0, hasChosen }
}

function saySkipped(paths: readonly string[], tag: string | undefined, { say }: Context): void {
  const what = `no examples${tag === undefined ? '' : ` with the tag ${tag}`}: skipped`
  if (paths.length > mostSkippedLines) say(`${countOf(paths.length, 'prompt')} have ${what}`)
  else for (const path of paths) say(`${path} has ${what}`)
}
