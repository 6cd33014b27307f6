import type { Run } from '@stet/sdk'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { messageOf } from '../../app/failure.tsx'
import { stet } from '../../app/session.ts'
import { FormDialog } from '../../ui/dialog.tsx'
import { SelectField } from '../../ui/field.tsx'
import { counted } from '../../ui/time.tsx'
import { say } from '../../ui/toast.tsx'

/** One request takes so many runs. */
const mostSaved = 100

const reasons: Record<string, string> = {
  'unknown-run': 'deleted meanwhile',
  active: 'still running',
  'no-parameters': 'its inputs were not kept',
  'already-saved': 'saved before',
  'too-large': 'too large for an example',
}

interface SaveRunsProps {
  projectId: number
  runs: readonly Pick<Run, 'uuid' | 'path'>[]
  onClose: () => void
}

/** Saves the inputs of runs as examples of their prompts. */
export function SaveRuns({ projectId, runs, onClose }: SaveRunsProps) {
  const [expected, setExpected] = useState<'answer' | 'none'>('none')
  const client = useQueryClient()
  const navigate = useNavigate()
  const save = useMutation({
    mutationFn: () => {
      const uuids = runs.map(({ uuid }) => uuid)
      return Promise.resolve(stet.examples.fromRuns({ runs: uuids, expected }, { projectId }))
    },
    onSuccess: async ({ added, skipped }) => {
      await client.invalidateQueries({ queryKey: ['project', projectId, 'examples'] })
      const path = runs[0]?.path
      const open = () =>
        void navigate({
          to: '/p/$project/v/$version/prompts/$',
          params: { project: String(projectId), version: 'live', _splat: path ?? '' },
          search: { tab: 'examples' },
        })
      say(savedText(added.length, skipped), added.length > 0 ? { label: 'Show', onSelect: open } : undefined)
      onClose()
    },
  })
  const isTooMany = runs.length > mostSaved && `select at most ${mostSaved} runs`
  return (
    <FormDialog
      title={runs.length === 1 ? 'Save as an example' : `Save ${counted(runs.length, 'run')} as examples`}
      text="An example gets the inputs of the run, the caller's messages, and the results of its client tools."
      submit="Save"
      busy={save.isPending}
      missing={isTooMany}
      onSubmit={() => save.mutate()}
      onClose={onClose}
    >
      <SelectField
        label="Expected answer"
        value={expected}
        hint="Edit an answer that is not right before you rely on it."
        problem={save.error && messageOf(save.error)}
        onChange={({ target }) => setExpected(target.value as typeof expected)}
      >
        <option value="none">Nothing yet</option>
        <option value="answer">The answer of the run</option>
      </SelectField>
    </FormDialog>
  )
}

/** "3 examples saved, 1 skipped: its inputs were not kept" */
function savedText(added: number, skipped: readonly { reason: string }[]): string {
  const why = [...new Set(skipped.map(({ reason }) => reasons[reason] ?? reason))].join(', ')
  return `${counted(added, 'example')} saved${skipped.length > 0 ? `, ${skipped.length} skipped: ${why}` : ''}`
}
