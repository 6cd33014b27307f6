import type { Run } from '@stet/sdk'
import { Link } from '@tanstack/react-router'
import { join } from '../ui/button.tsx'
import { withSigns } from '../ui/hidden-characters.ts'
import layout from '../ui/styles/layout.module.css'
import { Time } from '../ui/time.tsx'
import css from './output/output.module.css'
import { runDuration } from './run-figures.ts'

/** Failed runs with their messages. Each leads to its run. */
export function FailedRuns({ runs }: { runs: readonly Run[] }) {
  return (
    <ul>
      {runs.map((run) => (
        <li key={run.uuid} className={join(layout['row'], css['failed'])}>
          <Link to="/runs/$run" params={{ run: run.uuid }}>
            {run.path}
          </Link>
          <span className={layout['faint']}>
            <Time at={run.createdAt} />, after {runDuration(run)}
          </span>
          <span className={join(layout['cut'], css['message'])}>{withSigns(run.error?.message ?? '')}</span>
        </li>
      ))}
    </ul>
  )
}
