import type { RunDetails } from '@stet/sdk'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { issueOf, messageOf } from '../../../app/failure.tsx'
import { stet } from '../../../app/session.ts'
import { ownTags } from '../../../runs/run-state.tsx'
import { Button, Hidden, join } from '../../../ui/button.tsx'
import { FormDialog } from '../../../ui/dialog.tsx'
import { TextAreaField, TextField } from '../../../ui/field.tsx'
import { withSigns } from '../../../ui/hidden-characters.ts'
import { Icon } from '../../../ui/icon.tsx'
import layout from '../../../ui/styles/layout.module.css'
import { typedTags } from '../filters.ts'
import css from './inspector.module.css'
import { runQuery } from './queries.ts'

/** The tags and the note of the run's conversation. What is not changed here stays as others left it. */
export function Labels({ run: { uuid, ...opened }, onClose }: { run: RunDetails; onClose: () => void }) {
  const { data: run = opened } = useQuery({ ...runQuery(uuid), refetchOnMount: 'always' })
  const [removed, setRemoved] = useState<readonly string[]>([])
  const [added, setAdded] = useState('')
  /** Null until it is edited. */
  const [note, setNote] = useState<string | null>(null)
  const client = useQueryClient()
  const save = useMutation({
    mutationFn: async () => {
      const isNoted = note !== null && note !== (run.note?.text ?? '')
      const tags = { addTags: typedTags(added), removeTags: [...removed] }
      await stet.conversations.update(run.conversationUuid, { ...tags, ...(isNoted && { note }) })
    },
    onSuccess: async () => {
      await Promise.all([
        client.invalidateQueries({ queryKey: ['run'] }),
        client.invalidateQueries({ queryKey: ['project', run.projectId, 'runs'] }),
        client.invalidateQueries({ queryKey: ['project', run.projectId, 'tags'] }),
      ])
      onClose()
    },
  })
  const ofNote = issueOf(save.error, 'note')
  return (
    <FormDialog
      title="Tags and note"
      text="They belong to the conversation, with all of its runs."
      submit="Save"
      busy={save.isPending}
      onSubmit={() => save.mutate()}
      onClose={onClose}
    >
      <div className={join(layout['row'], css['chips'])}>
        {ownTags(run.tags)
          .filter((tag) => !removed.includes(tag))
          .map((tag) => (
            <Button key={tag} look="quiet" onClick={() => setRemoved([...removed, tag])}>
              <Hidden>Remove the tag</Hidden> {withSigns(tag)} <Icon name="close" size={12} />
            </Button>
          ))}
      </div>
      <TextField
        label="Tags to add"
        note="separated by commas"
        value={added}
        problem={!ofNote && save.error && messageOf(save.error)}
        onChange={(event) => {
          setAdded(event.target.value)
          save.reset()
        }}
      />
      <TextAreaField
        label="Note"
        rows={4}
        value={note ?? run.note?.text ?? ''}
        problem={ofNote}
        onChange={(event) => {
          setNote(event.target.value)
          save.reset()
        }}
      />
    </FormDialog>
  )
}
