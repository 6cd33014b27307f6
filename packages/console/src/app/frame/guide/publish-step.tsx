import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
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
  const publish = useMutation({
    mutationFn: async () => {
      await saveAll()
      await stet.versions.publish(version, { projectId, title: 'First version' })
      await queryClient.invalidateQueries()
      await navigate({
        to: '/p/$project/v/$version/prompts/$',
        params: { project: String(projectId), version: 'live', _splat: path },
        search: { tab: 'run', ...(example && { example }) },
      })
    },
  })
  return (
    <div className={css['publish']}>
      <p>Programs get the live version. Until you publish, only this console shows the draft.</p>
      {publish.isError && <p role="alert">{messageOf(publish.error)}</p>}
      <Button look="primary" busy={publish.isPending} blocked={needsPublish} onClick={() => publish.mutate()}>
        Publish
      </Button>
    </div>
  )
}
