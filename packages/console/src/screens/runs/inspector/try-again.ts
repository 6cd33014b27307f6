import type { RunDetails, Version } from '@stet/sdk'
import { stet } from '../../../app/session.ts'
import { chooseDraft } from '../../../editor/draft-for-edit.ts'
import { draftsOf, inputsOf } from '../../../runs/inputs/input-value.ts'
import { keepInputs } from '../../../runs/inputs/kept-inputs.ts'

interface Place {
  /** `live` or the uuid of a draft. */
  version: string
  path: string
}

/** The prompt is not in the version that the inputs would go to. */
export class PromptGone extends Error {}

/**
 * Fills the run pane of the prompt with the inputs of a run. The prompt is that of the run's draft, otherwise of the
 * author's newest draft, otherwise of live, where typing begins a draft.
 *
 * @throws PromptGone; ApiError if the prompt cannot be read
 */
export async function tryAgain(run: RunDetails, author: { id: number; name: string }): Promise<Place> {
  const { projectId, documentUuid, versionUuid, parameters } = run
  const versions = await stet.versions.list({ projectId })
  const version = draftOf(versions, versionUuid) ?? chooseDraft(versions, author, new Date()).existing?.uuid ?? 'live'
  const { items } = await stet.versions.tree(version, { projectId })
  const found = items.find((item) => item.documentUuid === documentUuid && item.change !== 'deleted')
  if (!found) throw new PromptGone(`${run.path} is not in this version any more`)
  const prompt = await stet.prompts.get(found.path, { projectId, versionUuid: version })
  keepInputs(`${projectId}/${documentUuid}`, { drafts: draftsOf(inputsOf(prompt), parameters ?? {}) })
  return { version, path: found.path }
}

function draftOf(versions: readonly Version[], versionUuid: string): string | undefined {
  return versions.find(({ uuid, status }) => uuid === versionUuid && status === 'draft')?.uuid
}
