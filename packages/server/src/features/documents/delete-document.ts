/** Deletes a document in a draft, softly: live keeps serving it, and creating at the path brings the same one back. */
import { mergedVersion } from '../../shared/app-error.ts'
import type { Needs } from '../deps.ts'
import { changeProject } from './change-project.ts'
import { normaliseDocumentPath } from './document-path.ts'
import { deleteText, hashesOf } from './overlay.ts'
import { assertPreconditions } from './preconditions.ts'
import { documentNotFound } from './read-document.ts'
import { findVersionRow, type VersionAddress } from './version-ref.ts'

export interface DeleteDocumentInput extends VersionAddress {
  path: string
  ifMatch?: string
}

/** @throws AppError BadRequestError for a merged version, NotFoundError, PreconditionFailedError. */
export async function deleteDocument(
  deps: Needs<'transaction' | 'liveCache' | 'clock' | 'log'>,
  input: DeleteDocumentInput,
): Promise<{ documentUuid: string; path: string }> {
  const path = normaliseDocumentPath(input.path)
  const { workspaceId } = input.caller
  return changeProject(deps, input, async ({ stores, at, touch }) => {
    const version = await findVersionRow(stores, input)
    if (version.number !== null) throw mergedVersion()
    const [slot] = await stores.documents.listSlots(workspaceId, version, [path])
    const row = slot ? deleteText(slot, at) : null
    if (!slot || !row) throw await documentNotFound({ stores }, workspaceId, version, path)
    const { ifMatch } = input
    assertPreconditions(path, hashesOf(slot), ifMatch === undefined ? {} : { ifMatch })
    await stores.documents.saveDraft(workspaceId, version, [row])
    await touch(version)
    return { documentUuid: row.documentUuid, path }
  })
}
