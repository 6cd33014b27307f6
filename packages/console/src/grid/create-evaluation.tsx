import { judgePrompt } from '@stet/sdk/eval'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { Failure } from '../app/failure.tsx'
import { draftForEdit } from '../app/frame/switches/draft-for-edit.ts'
import { stet } from '../app/session.ts'
import { FormDialog } from '../ui/dialog.tsx'
import { TextAreaField, TextField } from '../ui/field.tsx'
import { say } from '../ui/toast.tsx'
import { checkIn, newCheck } from './rows/check-form.ts'
import { ChecksFields } from './rows/checks-fields.tsx'

interface CreateEvaluationProps {
  projectId: number
  documentUuid: string
  type: 'rule' | 'judge'
  onClose: () => void
}

/** Makes an evaluation of the prompt: a list of checks, or a prompt that judges, which goes into a draft. */
export default function CreateEvaluation({ projectId, documentUuid, type, onClose }: CreateEvaluationProps) {
  const [name, setName] = useState('')
  const [criteria, setCriteria] = useState('')
  const [checks, setChecks] = useState([newCheck()])
  const made = useRef<string>(undefined)
  const client = useQueryClient()
  const navigate = useNavigate()
  const isJudge = type === 'judge'
  const own = { name: name.trim(), documentUuid }
  const create = useMutation({
    mutationFn: async () => {
      if (!isJudge) {
        await stet.evaluations.create({ ...own, type: 'rule', checks: checks.map(checkIn) }, { projectId })
        return `${own.name} scores the answers of the next experiment`
      }
      const path = judgePath(name)
      const draft = await draftForEdit(stet, projectId)
      const text = { projectId, versionUuid: draft.uuid, prompt: judgePrompt({ criteria }) }
      // After a refused judge, its prompt is there already.
      await (made.current === path ? stet.prompts.createOrUpdate(path, text) : stet.prompts.create(path, text))
      made.current = path
      const configuration = { criteria: criteria.trim() }
      const { uuid } = await stet.evaluations.create(
        { ...own, type: 'judge', judge: path, configuration },
        { projectId },
      )
      await navigate({
        to: '/p/$project/judges/$evaluation',
        params: { project: String(projectId), evaluation: uuid },
      })
      return `The prompt of the judge is in the draft ${draft.title}`
    },
    onSuccess: async (said) => {
      await client.invalidateQueries({ queryKey: ['project', projectId] })
      say(said)
      onClose()
    },
  })
  return (
    <FormDialog
      title={`Create a ${type}`}
      text={
        isJudge
          ? 'A judge is a prompt that reads an answer and says whether it is right. It counts once it agrees with people.'
          : 'A rule has checks for all rows of the prompt. An answer passes if all of them pass. A rule never changes.'
      }
      wide={!isJudge}
      submit="Create"
      busy={create.isPending}
      missing={name.trim() ? isJudge && !criteria.trim() && 'it needs criteria' : 'it needs a name'}
      onSubmit={() => create.mutate()}
      onClose={onClose}
    >
      <TextField label="Name" maxLength={100} value={name} onChange={({ target }) => setName(target.value)} />
      {isJudge ? (
        <TextAreaField
          label="Criteria"
          rows={5}
          value={criteria}
          hint={`What makes an answer right? The text goes into the prompt ${judgePath(name || 'name')}, where you can edit it.`}
          onChange={({ target }) => setCriteria(target.value)}
        />
      ) : (
        <ChecksFields forms={checks} onChange={setChecks} />
      )}
      {create.error && <Failure error={create.error} what="Nothing was created" />}
    </FormDialog>
  )
}

/** "Polite tone" becomes `judges/polite-tone`. */
function judgePath(name: string): string {
  const slug = name.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, '-')
  return `judges/${slug.replaceAll(/^-|-$/g, '') || 'judge'}`
}
