import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useEffect, useRef } from 'react'
import { Button, Hidden } from '../../../ui/button.tsx'
import { Code } from '../../../ui/copy.tsx'
import { Icon } from '../../../ui/icon.tsx'
import { type Guide, setPreferences } from '../../preferences.ts'
import { projectsQuery } from '../../queries.ts'
import { base, stet } from '../../session.ts'
import { DemoLine } from './demo-line.tsx'
import css from './guide.module.css'
import { PublishStep } from './publish-step.tsx'
import { hasRun, isCalled } from './steps.ts'

/** How often the steps are looked at, in milliseconds. */
const interval = 3000
const none: readonly { via: string; status: string }[] = []

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
          <li key={text} className={css['step']} data-done={isDone || undefined}>
            <span className={css['number']}>{isDone ? <Icon name="check" size={14} /> : at + 1}</span>
            {text}
            {isDone && <Hidden>(done)</Hidden>}
          </li>
        ))}
      </ol>
      <div className={css['next']}>
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
  const { data: runs = none, isSuccess } = useQuery({
    queryKey: ['project', projectId, 'guide', path],
    queryFn: ({ signal }) => stet.conversations.list({ projectId, path, limit: 20, signal }).then(({ items }) => items),
    refetchInterval: ({ state: { data } }) => !guide.isCalled && !isCalled(data ?? none) && interval,
  })
  const projects = useQuery(projectsQuery)
  const isCalledNow = isCalled(runs)
  useEffect(() => {
    // Later runs of the console push the program's run off the list.
    if (isCalledNow && !guide.isCalled) setPreferences({ guide: { ...guide, isCalled: true } })
  }, [guide, isCalledNow])
  const steps = [
    { text: 'Run it', isDone: hasRun(runs), next: <p className={css['run']}>Press ⏎. Run has the focus.</p> },
    {
      text: 'Publish it',
      isDone: Boolean(projects.data?.find(({ id }) => id === projectId)?.liveVersionUuid),
      next: <PublishStep guide={guide} />,
    },
    {
      text: 'Call it from code',
      isDone: guide.isCalled === true || isCalledNow,
      next: <Code label="curl command" text={curlLine(projectId, path)} />,
    },
  ]
  return { steps, wantsRun: isSuccess && runs.length === 0 }
}

/** The key is left out: the page does not have it. */
function curlLine(projectId: number, path: string): string {
  const url = new URL(`api/v3/projects/${projectId}/versions/live/documents/run`, base)
  const body = JSON.stringify({ path, parameters: { name: 'Ada' } })
  return `curl ${url} -H "Authorization: Bearer $STET_API_KEY" -H 'Content-Type: application/json' -d '${body}'`
}
