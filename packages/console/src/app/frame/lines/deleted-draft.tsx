/** A draft that was deleted while its address was open, or before. */
import type { Version } from '@stet/sdk'
import { useMutation } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { Button } from '../../../ui/button.tsx'
import { Notice } from '../../../ui/states.tsx'
import { Failure } from '../../failure.tsx'
import { queryClient, stet, useBlocked } from '../../session.ts'
import { saveAll, useHoldsText } from '../../unsaved.ts'
import { useDeletedDraft, useIsUnknownVersion, useProjectId } from '../place.ts'

/** Restores the draft, and saves what was typed in it since. */
export async function restoreDraft({ projectId, uuid }: Pick<Version, 'projectId' | 'uuid'>): Promise<void> {
  await stet.versions.restore(uuid, { projectId })
  await queryClient.invalidateQueries({ queryKey: ['project', projectId] })
  void saveAll()
}

export function RestoreDraft({ draft }: { draft: Version }) {
  const needsWrite = useBlocked('write')
  const restore = useMutation({ mutationFn: () => restoreDraft(draft) })
  return (
    <>
      <Button look="primary" blocked={needsWrite} busy={restore.isPending} onClick={() => restore.mutate()}>
        Restore the draft
      </Button>
      {restore.error && <Failure error={restore.error} what="The draft was not restored" />}
    </>
  )
}

/** Above a prompt of a deleted draft that stays open because its text is not saved. */
export function DeletedDraftLine() {
  const { version } = useParams({ strict: false })
  const projectId = useProjectId()
  return version !== undefined && projectId !== null && <Line {...{ projectId, version }} />
}

function Line({ projectId, version }: { projectId: number; version: string }) {
  const isUnknown = useIsUnknownVersion(projectId, version)
  const { data: draft } = useDeletedDraft(projectId, version, isUnknown)
  const holdsText = useHoldsText(projectId, version)
  if (!draft || !isUnknown || !holdsText) return null
  return (
    <Notice tone="amber" urgent actions={<RestoreDraft draft={draft} />}>
      The draft “{draft.title}” was deleted. Your text is not saved until the draft is restored.
    </Notice>
  )
}
