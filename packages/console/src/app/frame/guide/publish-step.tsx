import { useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../../../ui/button.tsx'
import { messageOf } from '../../failure.tsx'
import type { Guide } from '../../preferences.ts'
import { stet, useBlocked } from '../../session.ts'
import { saveAll } from '../../unsaved.ts'
import css from './guide.module.css'

/** Publishes the draft of the first prompt, and shows the prompt in the live version. */
export function PublishStep({ guide }: { guide: Guide }) {
  const { project: projectId, path, version } = guide
  const needsPublish = useBlocked('publish')
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const { example } = useSearch({ strict: false })
  const [state, setState] = useState<'idle' | 'busy' | { problem: string }>('idle')
  const publish = async () => {
    setState('busy')
    try {
      await saveAll()
      await stet.versions.publish(version, { projectId, title: 'First version' })
      await queryClient.invalidateQueries()
      await navigate({
        to: '/p/$project/v/$version/prompts/$',
        params: { project: String(projectId), version: 'live', _splat: path },
        search: { tab: 'run', ...(example && { example }) },
      })
    } catch (error) {
      setState({ problem: messageOf(error) })
    }
  }
  return (
    <div className={css['publish']}>
      <p>Programs get what is live. Until then only this console sees the draft.</p>
      {typeof state === 'object' && <p role="alert">{state.problem}</p>}
      <Button look="primary" busy={state === 'busy'} blocked={needsPublish} onClick={publish}>
        Publish
      </Button>
    </div>
  )
}
