import type { Evaluation } from '@stet/sdk'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Failure, messageOf } from '../../app/failure.tsx'
import { stet, useBlocked } from '../../app/session.ts'
import { ActionBar } from '../../grid/action-bar.tsx'
import css from '../../grid/grid.module.css'
import { noLabelReason, sendLabel } from '../../grid/labels.ts'
import { join } from '../../ui/button.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { TextAreaField, TextField } from '../../ui/field.tsx'
import { withSigns } from '../../ui/hidden-characters.ts'
import { runQuery, tagsQuery } from './queries.ts'

interface CaseActionsProps {
  projectId: number
  evaluation: Evaluation
  conversationUuid: string
  /** The label that was given here. */
  label: boolean | null
  onLabel: (conversationUuid: string, passed: boolean | null) => void
  onNext: () => void
  onBack: (() => void) | undefined
}

/** So many tags have a digit. */
const mostDigits = 9

/** Right or wrong, why, and the next one, by keys and by buttons. */
export function CaseActions(props: CaseActionsProps) {
  const { projectId, evaluation, conversationUuid, label, onLabel, onNext, onBack } = props
  const [asked, setAsked] = useState<'note' | 'tag' | null>(null)
  const needsRun = useBlocked('run')
  const noLabel = needsRun || noLabelReason(evaluation)
  const annotate = useMutation({
    mutationFn: ({ uuid, passed }: { uuid: string; passed: boolean | null }) => sendLabel(evaluation, uuid, passed),
    // The reader may have gone on.
    onSuccess: (_, { uuid, passed }) => onLabel(uuid, passed),
  })
  const mark = (passed: boolean | null) => annotate.mutate({ uuid: conversationUuid, passed })
  const notLabeled = label === null && 'it is not labeled here'
  const tags = useTags(projectId, conversationUuid)
  const blocked = needsRun
  const error = annotate.error ?? tags.toggle.error
  const right = { look: 'plain', 'aria-pressed': label === true, blocked: noLabel, run: () => mark(true) } as const
  const wrong = { look: 'plain', 'aria-pressed': label === false, blocked: noLabel, run: () => mark(false) } as const
  return (
    <div className={join(css['stack'], css['bar'])}>
      <ActionBar
        label="Label"
        group="Queue"
        actions={[
          { keys: 'y', text: 'Right', ...right },
          { keys: 'n', text: 'Wrong', ...wrong },
          { keys: 'x', text: 'Remove label', blocked: notLabeled || needsRun, run: () => mark(null) },
          { keys: 'c', text: tags.note ? 'Edit the note' : 'Note', blocked, run: () => setAsked('note') },
          { keys: 'z', text: 'Back', blocked: !onBack && 'this is the first one', run: () => onBack?.() },
          { keys: 'Enter', text: 'Next', look: 'primary', run: onNext },
        ]}
      />
      <ActionBar
        label="Tags"
        group="Queue"
        actions={[
          ...tags.offered.map(({ tag, conversations }, at) => ({
            ...{ keys: String(at + 1), text: withSigns(tag), inPalette: false, blocked },
            'aria-pressed': tags.current.includes(tag),
            note: <span className={css['quiet']}>{conversations}</span>,
            run: () => tags.toggle.mutate(tag),
          })),
          { keys: 't', text: 'New tag', blocked, run: () => setAsked('tag') },
        ]}
      />
      {tags.note && <p className={css['note']}>{withSigns(tags.note)}</p>}
      {error && <Failure error={error} what="It was not saved" />}
      {asked && (
        <SaidDialog {...{ asked, projectId, conversationUuid }} note={tags.note} onClose={() => setAsked(null)} />
      )}
    </div>
  )
}

/** The tags of the conversation, and those that are offered by a digit: the most used ones. */
function useTags(projectId: number, conversationUuid: string) {
  const client = useQueryClient()
  const { data: run } = useQuery(runQuery(conversationUuid))
  const { data: used = [] } = useQuery(tagsQuery(projectId))
  const current = run?.tags ?? []
  const toggle = useMutation({
    mutationFn: (tag: string) => {
      const change = current.includes(tag) ? { removeTags: [tag] } : { addTags: [tag] }
      return Promise.resolve(stet.conversations.update(conversationUuid, change))
    },
    onSuccess: () => reloadSaid(client, projectId, conversationUuid),
  })
  const offered = used.filter(({ tag }) => !tag.startsWith('feedback:')).slice(0, mostDigits)
  return { current, offered, toggle, note: run?.note?.text ?? null }
}

function reloadSaid(client: ReturnType<typeof useQueryClient>, projectId: number, conversationUuid: string) {
  const { queryKey } = runQuery(conversationUuid)
  return Promise.all([client.invalidateQueries({ queryKey }), client.invalidateQueries(tagsQuery(projectId))])
}

interface SaidDialogProps {
  asked: 'note' | 'tag'
  projectId: number
  conversationUuid: string
  note: string | null
  onClose: () => void
}

function SaidDialog({ asked, projectId, conversationUuid, note, onClose }: SaidDialogProps) {
  const [text, setText] = useState(asked === 'note' ? (note ?? '') : '')
  const client = useQueryClient()
  const save = useMutation({
    mutationFn: () => {
      const change = asked === 'note' ? { note: text } : { addTags: [text.trim()] }
      return Promise.resolve(stet.conversations.update(conversationUuid, change))
    },
    onSuccess: async () => {
      await reloadSaid(client, projectId, conversationUuid)
      onClose()
    },
  })
  const problem = save.error && messageOf(save.error)
  const field = { value: text, problem, onChange: ({ target }: { target: { value: string } }) => setText(target.value) }
  return (
    <FormDialog
      title={asked === 'note' ? 'Note' : 'New tag'}
      submit="Save"
      busy={save.isPending}
      missing={asked === 'tag' && !text.trim() && 'it needs a name'}
      onSubmit={() => save.mutate()}
      onClose={onClose}
    >
      {asked === 'note' ? (
        <TextAreaField label="What is wrong with the answer" rows={4} {...field} />
      ) : (
        <TextField label="Tag" maxLength={64} {...field} />
      )}
    </FormDialog>
  )
}
