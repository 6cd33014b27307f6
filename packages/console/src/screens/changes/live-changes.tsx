import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Failure } from '../../app/failure.tsx'
import { stet, useBlocked } from '../../app/session.ts'
import { Button } from '../../ui/button.tsx'
import { Notice } from '../../ui/states.tsx'
import layout from '../../ui/styles/layout.module.css'
import { counted } from '../../ui/time.tsx'
import { say } from '../../ui/toast.tsx'
import type { LiveConflict } from './conflict.tsx'
import css from './page.module.css'

interface LiveChangesProps {
  projectId: number
  versionUuid: string
  /** The prompts of the draft whose text in live is newer than the one that the draft started from. */
  conflicts: readonly LiveConflict[]
  onResolve: (conflict: LiveConflict) => void
}

/** Merges live's newer texts into the draft. The user merges the prompts whose changes overlap. */
export function LiveChanges({ projectId, versionUuid, conflicts, onResolve }: LiveChangesProps) {
  const queries = useQueryClient()
  const needsWrite = useBlocked('write')
  const update = useMutation({
    mutationFn: () => stet.versions.updateFromEnvironment(versionUuid, { projectId }),
    onSuccess: ({ updated }) => {
      if (updated.length > 0) say(`Merged live’s text into ${counted(updated.length, 'prompt')}`)
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ['project', projectId] }),
  })
  // The update's result for these texts. It is void after a later change of either one.
  const outcomeOf = ({ path, liveHash, draftHash }: LiveConflict) => {
    const of = update.data?.conflicts.find((one) => one.path === path)
    if (of?.liveHash !== liveHash || of.draftHash !== draftHash) return null
    return of.skipped ? 'not merged yet' : 'the changes overlap'
  }
  const skipped = conflicts.filter((conflict) => outcomeOf(conflict) === 'not merged yet').length
  return (
    <>
      <Notice
        tone="amber"
        actions={
          <Button busy={update.isPending} blocked={needsWrite} onClick={() => update.mutate()}>
            Update from live
          </Button>
        }
      >
        Live has newer texts of {counted(conflicts.length, 'prompt')} that this draft changes.{' '}
        {skipped > 0 && `One update merges at most 5 MB: ${counted(skipped, 'prompt')} not merged yet. Update again.`}
      </Notice>
      {update.error && <Failure error={update.error} what="Nothing was merged" />}
      <ul className={layout['apart']}>
        {conflicts.map((conflict) => (
          <li key={conflict.path} className={css['row']}>
            <span>
              <span className={css['path']}>{conflict.path}</span> <span className="faint">{outcomeOf(conflict)}</span>
            </span>
            <Button onClick={() => onResolve(conflict)}>Compare and merge</Button>
          </li>
        ))}
      </ul>
    </>
  )
}
