import type { Run } from '@stet/sdk'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type KeyboardEvent, useState } from 'react'
import { listInterval } from '../../app/queries.ts'
import { stet } from '../../app/session.ts'
import { runDuration } from '../../runs/run-figures.ts'
import { runStateText } from '../../runs/run-state.tsx'
import css from './run-strip.module.css'

const mostShown = 20

interface RunStripProps {
  projectId: number
  documentUuid: string
}

/**
 * The last runs of a prompt, the newest at the end: the color is the state, the height the duration. Tab reaches one of
 * them, the arrows the others.
 */
export function RunStrip({ projectId, documentUuid }: RunStripProps) {
  const { data: runs = [] } = useQuery({
    queryKey: ['project', projectId, 'runs of', documentUuid],
    queryFn: async ({ signal, client, queryKey }): Promise<Run[]> => {
      // The runs of the last answer bound the search of the next one.
      const from = client.getQueryData<Run[]>(queryKey)?.[0]?.createdAt
      const search = { projectId, documentUuid, limit: mostShown, ...(from && { from }) }
      return (await stet.runs.list({ ...search, signal })).items.toReversed()
    },
    refetchInterval: listInterval,
  })
  const [reached, setReached] = useState<string | null>(null)
  if (runs.length === 0) return null
  const entry = runs.some(({ uuid }) => uuid === reached) ? reached : runs.at(-1)?.uuid
  const longest = Math.max(...runs.map(({ durationMs }) => durationMs ?? 0))
  return (
    <nav className={css['strip']} aria-label="Last runs" onKeyDown={moveFocus}>
      {runs.map((run) => (
        <Link
          key={run.uuid}
          to="/runs/$run"
          params={{ run: run.uuid }}
          className={css['run']}
          tabIndex={run.uuid === entry ? 0 : -1}
          aria-label={describe(run)}
          title={describe(run)}
          onFocus={() => setReached(run.uuid)}
        >
          <span
            className={css['bar']}
            data-state={run.status}
            style={{ height: `${heightOf(run.durationMs, longest)}%` }}
          />
        </Link>
      ))}
    </nav>
  )
}

function moveFocus(event: KeyboardEvent<HTMLElement>): void {
  const all = [...event.currentTarget.querySelectorAll('a')]
  const at = all.findIndex((link) => link.matches(':focus'))
  const next = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: all.length - 1 }[event.key]
  if (next === undefined) return
  event.preventDefault()
  all[next]?.focus()
}

/** In percent. The root, so that one slow run leaves differences between the others. A run that is active has none yet. */
function heightOf(durationMs: number | null, longest: number): number {
  const lowest = 15
  return durationMs === null || longest === 0 ? lowest : lowest + Math.sqrt(durationMs / longest) * (100 - lowest)
}

const time = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })

function describe(run: Run): string {
  return `${runStateText(run.status)}, ${runDuration(run)}, ${time.format(new Date(run.createdAt))}`
}
