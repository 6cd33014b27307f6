import type { GateVerdict } from '@stet/contract/vocabulary'
import type { Version } from '@stet/sdk'
import { Link } from '@tanstack/react-router'
import { toPrompt } from '../../app/addresses.ts'
import { withSigns } from '../../ui/hidden-characters.ts'
import { Chip } from '../../ui/mark.tsx'
import { counted } from '../../ui/time.tsx'
import type { useChecks } from './checks.tsx'
import css from './page.module.css'

type Checks = ReturnType<typeof useChecks>['data']

interface GateLinesProps {
  projectId: number
  draft: Version
  gates: readonly GateVerdict[]
  /** Names the prompt of each line. */
  hasPaths?: boolean
}

const tones = { pass: 'green', fail: 'red', inconclusive: 'amber' } as const

/** What experiments say about the texts of a draft, and the way to the evidence or to more of it. */
export function GateLines({ projectId, draft, gates, hasPaths }: GateLinesProps) {
  const project = String(projectId)
  // Several gates of a prompt may say the same.
  const said = new Map(gates.map((gate) => [`${gate.documentUuid} ${gate.message}`, gate]))
  return (
    <ul className={css['gates']}>
      {[...said.values()].map(({ gate, path, documentUuid, verdict, message, experimentUuid, labels }) => (
        <li key={`${documentUuid} ${gate}`}>
          <Chip tone={tones[verdict]}>{verdict}</Chip> {hasPaths && <span className={css['path']}>{path}: </span>}
          {withSigns(message)}{' '}
          {experimentUuid ? (
            <Link to="/p/$project/experiments/$experiment" params={{ project, experiment: experimentUuid }}>
              Result
            </Link>
          ) : (
            <Link {...toPrompt(projectId, draft.uuid, path)} search={{ tab: 'examples' }}>
              Run its examples
            </Link>
          )}
          {labels.count > 0 && (
            <span className="faint">
              {' '}
              {counted(labels.count, 'label')} by {labels.people.map(({ name }) => withSigns(name)).join(', ')}
            </span>
          )}
        </li>
      ))}
    </ul>
  )
}

/** Whether the gates alone refuse the publication. */
export function isGated(checks: Checks): boolean {
  return checks?.checks.some(({ name, state }) => name === 'gate' && state === 'blocked') ?? false
}
