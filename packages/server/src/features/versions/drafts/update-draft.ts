import type { UpdateVersionBody } from '@stet/contract/vocabulary'
import { refuse } from '../../../shared/app-error.ts'
import type { Needs } from '../../deps.ts'
import { changeProject } from '../../documents/change-project.ts'
import { findVersionRow, type VersionAddress } from '../../documents/version-ref.ts'
import type { RecordedVersion } from '../../projects/project.ts'
import { withRecord } from '../read-versions.ts'

/**
 * Renames a draft, or changes its notes.
 * @throws AppError BadRequestError for a merged version; NotFoundError.
 */
export async function updateDraft(
  deps: Needs<'transaction' | 'liveCache' | 'clock' | 'logger'>,
  input: VersionAddress & UpdateVersionBody,
): Promise<RecordedVersion> {
  const { workspaceId } = input.caller
  return changeProject(deps, input, async ({ stores, touch }) => {
    const draft = await findVersionRow(stores, input)
    if (draft.number !== null) throw refuse('merged-version')
    const title = input.name ?? draft.title
    const description = input.description === undefined ? draft.description : input.description || null
    if (title === draft.title && description === draft.description) return withRecord(stores, workspaceId, draft)
    await touch(draft)
    const updated = await stores.versions.update(workspaceId, draft.projectId, draft.id, { title, description })
    return withRecord(stores, workspaceId, updated)
  })
}
