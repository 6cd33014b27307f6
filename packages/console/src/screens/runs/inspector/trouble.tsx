import type { RunDetails } from '@stet/sdk'
import { useNavigate } from '@tanstack/react-router'
import { useMemo } from 'react'
import { troubleOf } from '../../../runs/follow-run.ts'
import { RunFailure } from '../../../runs/run-failure.tsx'
import { RunPlaceContext } from '../../../runs/run-place.ts'
import type { Followed } from './trace/follow-events.ts'
import { versionRef } from './version-ref.ts'

/** Why the run failed. The place in the prompt and the provider's words are in its events, as long as they are kept. */
export function Trouble({ run, followed }: { run: RunDetails; followed: Followed }) {
  const navigate = useNavigate()
  const { projectId, versionUuid, status, error } = run
  const place = useMemo(() => {
    const onLine = (path: string, line: number) => {
      const params = {
        project: String(projectId),
        version: versionRef(projectId, versionUuid),
        _splat: path || run.path,
      }
      void navigate({ to: '/p/$project/v/$version/prompts/$', params, search: { line } })
    }
    return { projectId, versionUuid, agents: [], tools: [], onLine }
  }, [projectId, versionUuid, run.path, navigate])
  if (status !== 'error' || !error) return null
  const trouble = followed.view.trouble ?? troubleOf(error.message, error.errorCode, null)
  return (
    <RunPlaceContext value={place}>
      <RunFailure trouble={trouble} onRejoin={followed.reconnect} />
    </RunPlaceContext>
  )
}
