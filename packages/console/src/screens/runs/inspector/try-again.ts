import type { RunDetails, Version } from '@stet/sdk'
import { chooseDraft } from '../../../app/frame/switches/draft-for-edit.ts'
import { stet } from '../../../app/session.ts'
import { draftsOf, inputsOf } from '../../../runs/inputs/input-value.ts'
import { inputsNow, replaceInputs } from '../../../runs/inputs/use-inputs.ts'
import { say } from '../../../ui/toast.tsx'

interface Place {
  /** `live` or the uuid of a draft. */
  version: string
  path: string
}

/**
 * Fills the run pane of the prompt with the inputs of a run, which can be undone. The prompt is that of the run's draft, otherwise of the
 * author's newest draft, otherwise of live, where typing begins a draft.
 *
 * @throws Error if the prompt is not in that version any more, or if its inputs are too large; ApiError if it cannot be read
 */
export async function tryAgain(run: RunDetails, author: { id: number; name: string }): Promise<Place> {
  const { projectId, documentUuid, versionUuid, parameters } = run
  const versions = await stet.versions.list({ projectId })
  const version = draftOf(versions, versionUuid) ?? chooseDraft(versions, author, new Date()).existing?.uuid ?? 'live'
  const { items } = await stet.versions.tree(version, { projectId })
  const found = items.find((item) => item.documentUuid === documentUuid && item.change !== 'deleted')
  if (!found) throw new Error(`${run.path} is not in this version any more`)
  const prompt = await stet.prompts.get(found.path, { projectId, versionUuid: version })
  const key = `${projectId}/${documentUuid}`
  const before = inputsNow(key)
  if (!replaceInputs(key, { drafts: draftsOf(inputsOf(prompt), parameters ?? {}) })) {
    replaceInputs(key, before)
    throw new Error('The inputs of this run are too large to store in this browser')
  }
  const isTyped = Object.values(before.drafts).some(({ text }) => text !== '')
  const left = [...(run.overrides ? ['its overrides'] : []), ...(run.givenCount ? ["the caller's messages"] : [])]
  if (isTyped || left.length > 0)
    say(
      `Filled in from the run${left.length > 0 ? `, without ${left.join(' and ')}` : ''}`,
      isTyped ? { label: 'Undo', onSelect: () => replaceInputs(key, before) } : undefined,
    )
  return { version, path: found.path }
}

function draftOf(versions: readonly Version[], versionUuid: string): string | undefined {
  return versions.find(({ uuid, status }) => uuid === versionUuid && status === 'draft')?.uuid
}
