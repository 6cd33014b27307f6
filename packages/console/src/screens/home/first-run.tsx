import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { toPrompt } from '../../app/addresses.ts'
import { Failure } from '../../app/failure.tsx'
import { useProviderForm } from '../../app/frame/dialogs/provider-form.tsx'
import { setPreferences } from '../../app/preferences.ts'
import { useBlocked, useSession } from '../../app/session.ts'
import { Button } from '../../ui/button.tsx'
import { ScreenTitle } from '../../ui/screen.tsx'
import { Notice } from '../../ui/states.tsx'
import { durationText } from '../../ui/time.tsx'
import { firstPrompt, writeFirstPrompt } from './first-prompt.ts'
import css from './home.module.css'

/** The first screen of an empty installation: one button, and beside it the key of a provider. */
export function FirstRun({ projectId }: { projectId: number | null }) {
  return (
    <div className={css['page']}>
      <title>Begin · stet</title>
      <ScreenTitle>No prompts yet</ScreenTitle>
      <div className={css['columns']}>
        <Begin projectId={projectId} />
        <section className={css['beside']}>
          <h2 className={css['heading']}>Answered by</h2>
          <ProviderKey />
        </section>
      </div>
    </div>
  )
}

/** Stores the key of a provider. Without one, the demo provider answers. */
function ProviderKey() {
  const needsAdmin = useBlocked('admin')
  const [answer, setAnswer] = useState<string | null>(null)
  const form = useProviderForm({
    isBrief: true,
    onSaved: ({ name, test }) =>
      setAnswer(`${name} answers from now on (${test && `${test.model}, ${durationText(test.durationMs)}`}).`),
  })
  if (answer) return <Notice tone="blue">{answer}</Notice>
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!form.isBusy && !form.missing && !needsAdmin) form.save()
  }
  return (
    <form className={css['form']} onSubmit={submit} noValidate>
      <p className={css['quiet']}>
        Without a key, stet’s demo provider answers. It is not a model, and it costs nothing. You can add a key now or
        later.
      </p>
      {form.fields}
      <div>
        <Button type="submit" busy={form.isBusy} blocked={needsAdmin || form.missing}>
          Save and test
        </Button>
      </div>
    </form>
  )
}

function Begin({ projectId }: { projectId: number | null }) {
  const needsWrite = useBlocked('write')
  const { author } = useSession().apiKey
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  const begin = useMutation({
    mutationFn: async () => {
      const written = await writeFirstPrompt(projectId)
      const { projectId: project, versionUuid: version, documentUuid } = written
      setPreferences({ guide: { project, author: author.id, path: firstPrompt.path, documentUuid, version } })
      // Home leads away as soon as it reads that the project has a prompt, so nothing is read again before.
      await navigate({
        ...toPrompt(project, version, firstPrompt.path),
        search: { tab: 'run', example: written.exampleUuid },
      })
      await queryClient.invalidateQueries()
    },
  })
  return (
    <section className={css['begin']}>
      <p className={css['lead']}>
        Begin with a prompt called <code>{firstPrompt.path}</code>. You can run it at once, change it, and publish it.
      </p>
      <figure className={css['proof']}>
        <figcaption className={css['proofName']}>{firstPrompt.path}</figcaption>
        <pre className={css['proofText']}>{firstPrompt.text}</pre>
      </figure>
      {begin.isError && <Failure error={begin.error} what="The prompt could not be created" />}
      <div className={css['actions']}>
        <Button look="primary" busy={begin.isPending} blocked={needsWrite} onClick={() => begin.mutate()}>
          Begin
        </Button>
        <span className={css['quiet']}>
          or, from a folder of prompts: <code>stet push</code>
        </span>
      </div>
    </section>
  )
}
