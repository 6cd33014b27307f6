import type { Evaluation } from '@stet/sdk'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { Failure } from '../../app/failure.tsx'
import css from '../../grid/grid.module.css'
import { evaluationQuery } from '../../grid/labels.ts'
import { Button } from '../../ui/button.tsx'
import { Screen, ScreenTitle } from '../../ui/screen.tsx'
import { Empty, Skeleton } from '../../ui/states.tsx'
import { counted } from '../../ui/time.tsx'
import { CaseActions } from './case-actions.tsx'
import { CaseView } from './case-view.tsx'
import { queueQuery, usePreloadedCase } from './queries.ts'

const route = getRouteApi('/shell/p/$project/queue/$evaluation')

/** Answers without a label, one at a time. */
export function QueuePage() {
  const { project, evaluation: uuid } = route.useParams()
  const { tag } = route.useSearch()
  const evaluation = useQuery(evaluationQuery(uuid))
  return (
    <Screen>
      <title>{evaluation.data ? `${evaluation.data.name} · queue · stet` : 'Queue · stet'}</title>
      <ScreenTitle beside={tag && `tag ${tag}`}>
        {evaluation.data ? `Label: ${evaluation.data.name}` : 'Queue'}
      </ScreenTitle>
      {evaluation.error && <Failure error={evaluation.error} what="The evaluation could not be loaded" />}
      {evaluation.data && (
        <>
          <Criteria evaluation={evaluation.data} />
          <Queue key={`${uuid} ${tag}`} projectId={Number(project)} evaluation={evaluation.data} tag={tag} />
        </>
      )}
    </Screen>
  )
}

/** What makes an answer right. */
function Criteria({ evaluation: { description, configuration } }: { evaluation: Evaluation }) {
  const { criteria, passDescription, failDescription } = configuration as Record<string, string | undefined>
  const right = passDescription && `Right: ${passDescription}`
  const lines = [description, criteria, right, failDescription && `Wrong: ${failDescription}`].filter(Boolean)
  if (lines.length === 0) return null
  return (
    <div className={css['criteria']}>
      {lines.map((line) => (
        <p key={line}>{line}</p>
      ))}
    </div>
  )
}

/** So many pages without an answer are read before the reader is asked to go on. */
const emptyAtOnce = 10

interface QueueProps {
  projectId: number
  evaluation: Evaluation
  tag: string | undefined
}

function Queue({ projectId, evaluation, tag }: QueueProps) {
  const queue = useInfiniteQuery(queueQuery(projectId, evaluation.uuid, tag))
  const [at, setAt] = useState(0)
  const [labels, setLabels] = useState<Record<string, boolean | null>>({})
  const labeled = Object.values(labels).filter((passed) => passed !== null).length
  const cases = queue.data?.pages.flatMap(({ items }) => items) ?? []
  const current = cases[at]
  usePreloadedCase(cases[at + 1]?.uuid)
  const { hasNextPage, fetchNextPage, isFetchNextPageError } = queue
  const pages = queue.data?.pages ?? []
  // A page may have no answer if nearly all are labeled.
  const filled = pages.findLastIndex(({ items }) => items.length > 0)
  const emptyPages = pages.length - 1 - filled
  const isPaused = emptyPages > 0 && emptyPages % emptyAtOnce === 0
  const mayContinue = hasNextPage && !queue.isFetchingNextPage && !isFetchNextPageError && !isPaused
  useEffect(() => {
    // The next one is loaded ahead, also over the end of a page.
    if (mayContinue && at >= cases.length - 2) void fetchNextPage()
  }, [mayContinue, fetchNextPage, at, cases.length])
  if (queue.error && (!queue.data || !current))
    return (
      <Failure
        error={queue.error}
        what="The queue could not be loaded"
        onRetry={() => void (isFetchNextPageError ? fetchNextPage() : queue.refetch())}
      />
    )
  if (!current && hasNextPage && isPaused && !queue.isFetchingNextPage)
    return (
      <Empty line="The last answers that were read all have labels.">
        <Button onClick={() => void fetchNextPage()}>Continue</Button>
      </Empty>
    )
  if (queue.isPending || (!current && hasNextPage)) return <Skeleton lines={8} />
  if (!current)
    return (
      <Empty line={cases.length === 0 ? 'No answer waits for a label.' : 'That was the last answer.'}>
        <p>{labeled > 0 && `You have labeled ${counted(labeled, 'answer')}.`}</p>
        {cases.length > 0 && <Button onClick={() => setAt(at - 1)}>Back</Button>}
      </Empty>
    )
  const { uuid } = current
  return (
    <>
      <p className={css['quiet']} role="status">
        {labeled} labeled · answer {at + 1} of {cases.length}
        {hasNextPage && ' or more'}
      </p>
      <CaseView conversationUuid={uuid} />
      <CaseActions
        {...{ projectId, evaluation }}
        conversationUuid={uuid}
        label={labels[uuid] ?? null}
        onLabel={(of, passed) => setLabels((now) => ({ ...now, [of]: passed }))}
        onNext={() => setAt(at + 1)}
        onBack={at > 0 ? () => setAt(at - 1) : undefined}
      />
    </>
  )
}
