import type { RunState } from '@stet/contract/vocabulary'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { type ReactNode, useEffect, useRef } from 'react'
import { Button, Hidden, join } from '../../../ui/button.tsx'
import { Code } from '../../../ui/copy.tsx'
import { Icon } from '../../../ui/icon.tsx'
import layout from '../../../ui/styles/layout.module.css'
import { toPrompt } from '../../addresses.ts'
import { messageOf } from '../../failure.tsx'
import { type Guide, setPreferences } from '../../preferences.ts'
import { projectsQuery, providersQuery } from '../../queries.ts'
import { base, stet, useBlocked } from '../../session.ts'
import { saveAll } from '../../unsaved.ts'
import css from './guide.module.css'

/** How often the steps are looked at, in milliseconds. */
const interval = 3000

/** The three steps after the first prompt was written. Once all are done, it never returns. */
export default function GuideStrip({ guide }: { guide: Guide }) {
  const { steps, wantsRun } = useSteps(guide)
  const current = steps.find(({ isDone }) => !isDone)
  const isOver = current === undefined
  const strip = useRef<HTMLElement>(null)
  useRunFocus(strip, wantsRun)
  return (
    <section ref={strip} className={css['guide']} aria-label="First steps">
      <ol className={css['steps']}>
        {steps.map(({ text, isDone }, at) => (
          <li key={text} className={css['step']} aria-current={text === current?.text ? 'step' : undefined}>
            <span className={css['number']}>{isDone ? <Icon name="check" size={14} /> : at + 1}</span>
            {text}
            {isDone && <Hidden>(done)</Hidden>}
          </li>
        ))}
      </ol>
      <div className={join(layout['close'], css['next'])}>
        <div className={css['places']}>
          {steps.map(({ text, next }) => (
            <div key={text} className={css['place']} data-current={text === current?.text || undefined}>
              {next}
            </div>
          ))}
          {isOver && <p>Your program now runs the live version.</p>}
        </div>
        <DemoLine />
      </div>
      <Button
        look={isOver ? 'plain' : 'quiet'}
        aria-label={isOver ? undefined : 'Hide the first steps'}
        square={!isOver}
        onClick={() => setPreferences({ guide: null })}
      >
        {isOver ? 'Done' : <Icon name="close" />}
      </Button>
    </section>
  )
}

interface Step {
  text: string
  isDone: boolean
  /** The instruction, shown for the first step that is not done. */
  next: ReactNode
}

/** Puts the focus on Run as soon as it is there, so that ⏎ runs the first prompt. */
function useRunFocus(strip: { current: HTMLElement | null }, isWanted: boolean): void {
  useEffect(() => {
    const main = strip.current?.closest('main')
    if (!isWanted || !main) return
    const focusRun = () => {
      const button = main.querySelector<HTMLElement>('[data-run]:not([aria-disabled])')
      button?.focus()
      return button !== null
    }
    if (focusRun()) return
    const observer = new MutationObserver(() => focusRun() && observer.disconnect())
    observer.observe(main, { childList: true, subtree: true, attributeFilter: ['aria-disabled'] })
    return () => observer.disconnect()
  }, [isWanted, strip])
}

function useSteps(guide: Guide): { steps: Step[]; wantsRun: boolean } {
  const { project: projectId, path } = guide
  const { data: done } = useRuns(guide)
  const projects = useQuery(projectsQuery)
  const isCalled = done?.isCalled === true
  const steps = [
    {
      text: 'Run it',
      isDone: isCalled || done?.isTried === true,
      next: (
        <p className={css['run']}>
          Press Run<span data-keys>, or ⏎</span>.
        </p>
      ),
    },
    {
      text: 'Publish it',
      isDone: Boolean(projects.data?.find(({ id }) => id === projectId)?.liveVersionUuid),
      next: <PublishStep guide={guide} />,
    },
    {
      text: 'Call it from code',
      isDone: isCalled,
      next: <Code label="curl command" text={curlLine(projectId, path)} />,
    },
  ]
  return { steps, wantsRun: done !== undefined && !done.isCalled && !done.isTried }
}

interface Done {
  isTried: boolean
  isCalled: boolean
}

/**
 * Whether this page and a program have run the prompt. Asks again until a program has. A call may still fail, so it
 * counts when it is over. A run of this page counts as soon as it has begun.
 */
function useRuns({ project: projectId, documentUuid }: Guide) {
  return useQuery({
    queryKey: ['project', projectId, 'guide', documentUuid],
    queryFn: async ({ signal, client, queryKey }): Promise<Done> => {
      const { items } = await stet.runs.list({ projectId, documentUuid, status: begun, limit: 20, signal })
      return {
        isTried: client.getQueryData<Done>(queryKey)?.isTried || items.some(({ via }) => via === 'console'),
        isCalled: items.some(({ via, status }) => via === 'api' && status === 'completed'),
      }
    },
    refetchInterval: ({ state }) => !state.data?.isCalled && interval,
  })
}

const begun: RunState[] = ['queued', 'running', 'completed', 'stopped']

/** The key is left out: the page does not have it. */
function curlLine(projectId: number, path: string): string {
  const url = new URL(`api/v3/projects/${projectId}/versions/live/documents/run`, base)
  const body = JSON.stringify({ path, parameters: { name: 'Ada' } })
  return `curl ${url} -H "Authorization: Bearer $STET_API_KEY" -H 'Content-Type: application/json' -d '${body}'`
}

/** Publishes the draft of the first prompt, and shows the prompt in the live version. */
function PublishStep({ guide }: { guide: Guide }) {
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
      const search = { tab: 'run' as const, ...(example && { example }) }
      await navigate({ ...toPrompt(projectId, 'live', path), search })
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

/** Says that no model answers, as long as the demo provider is the only one. */
function DemoLine() {
  const { data: providers = [] } = useQuery(providersQuery)
  const isDemo = providers.length === 1 && providers[0]?.isDemo
  if (!isDemo) return null
  return (
    <p className="faint">
      stet’s demo provider is answering, not a model ·{' '}
      <Link to="/settings/$page" params={{ page: 'providers' }}>
        Add a key
      </Link>
    </p>
  )
}
