import type { RunDetails } from '@stet/sdk'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { issueOf, messageOf } from '../../../app/failure.tsx'
import { stet } from '../../../app/session.ts'
import { FormDialog } from '../../../ui/dialog.tsx'
import { TextAreaField, TextField } from '../../../ui/field.tsx'
import { ownTags } from '../filters.ts'

/** The tags and the note of the run's conversation. */
export function Labels({ run, onClose }: { run: RunDetails; onClose: () => void }) {
  const [tags, setTags] = useState(ownTags(run.tags).join(', '))
  const [note, setNote] = useState(run.note?.text ?? '')
  const client = useQueryClient()
  const save = useMutation({
    mutationFn: () => {
      const wanted = [...new Set(tags.split(',').map((tag) => tag.trim()))].filter(Boolean)
      return Promise.resolve(stet.conversations.update(run.conversationUuid, { tags: wanted, note }))
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
      <TextField
        label="Tags"
        note="separated by commas"
        value={tags}
        problem={!ofNote && save.error && messageOf(save.error)}
        onChange={(event) => {
          setTags(event.target.value)
          save.reset()
        }}
      />
      <TextAreaField
        label="Note"
        rows={4}
        value={note}
        problem={ofNote}
        onChange={(event) => {
          setNote(event.target.value)
          save.reset()
        }}
      />
    </FormDialog>
  )
}
