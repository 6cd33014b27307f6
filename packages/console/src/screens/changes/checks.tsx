import type { ReleaseChecks, Version } from '@stet/sdk'
import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { toPrompt } from '../../app/addresses.ts'
import { Failure } from '../../app/failure.tsx'
import { versionsQuery } from '../../app/queries.ts'
import { stet } from '../../app/session.ts'
import { Notice } from '../../ui/states.tsx'
import { counted } from '../../ui/time.tsx'
import type { LiveConflict } from './conflict.tsx'
import { LiveChanges } from './live-changes.tsx'
import css from './page.module.css'

/** The checks that this console publishes with. The server repeats them before it publishes. */
export const blockedBy = 'configuration'

/** The server's check of a publication of the draft. Asked again when the draft or live has changed. */
export function useChecks(projectId: number, draft: Version) {
  const { data: versions = [] } = useQuery(versionsQuery(projectId))
  const live = versions.find(({ isLive }) => isLive)
  return useQuery(checksQuery(projectId, draft, live))
}

function checksQuery(projectId: number, draft: Version, live: Version | undefined) {
  const state = [draft.uuid, draft.updatedAt, live?.uuid, live?.revision]
  return queryOptions({
    // Not below the project's key, whose invalidation would check a draft that has just been published.
    queryKey: ['checks', projectId, ...state],
    queryFn: ({ signal }) => stet.versions.checks(draft.uuid, { projectId, block: blockedBy, signal }),
    placeholderData: keepPreviousData,
  })
}

export interface BrokenPrompt {
  path: string
  findings: ReleaseChecks['checks'][number]['findings']
}

/** The prompts with errors, in the order of the checks. */
export function brokenIn(checks: ReleaseChecks | undefined): BrokenPrompt[] {
  const findings = checks?.checks.flatMap(({ state, findings }) => (state === 'blocked' ? findings : [])) ?? []
  const paths = [...new Set(findings.map(({ path }) => path))]
  return paths.map((path) => ({ path, findings: findings.filter((found) => found.path === path) }))
}

/** "live has changed 1 prompt, 2 prompts have errors", or false if nothing stops the publication. */
export function reasonIn(checks: ReleaseChecks | undefined): string | false {
  if (checks?.verdict !== 'blocked') return false
  const broken = brokenIn(checks).length
  const parts = [
    checks.conflicts.length > 0 && `live has changed ${counted(checks.conflicts.length, 'prompt')}`,
    checks.checks.some(({ name, state }) => name === 'gate' && state === 'blocked') && 'the gates refuse it',
    broken > 0 && `${counted(broken, 'prompt')} ${broken === 1 ? 'has' : 'have'} errors`,
  ]
  return parts.filter(Boolean).join(', ')
}

/** More of them would hide the changes below. */
const mostShown = 3

interface BlockersProps {
  projectId: number
  draft: Version
  checks: ReturnType<typeof useChecks>
  onResolve: (conflict: LiveConflict) => void
}

/** The problems that block the publication, each with its way out. */
export function Blockers({ projectId, draft, checks: { data, error, refetch }, onResolve }: BlockersProps) {
  const broken = brokenIn(data)
  const place = { projectId, versionUuid: draft.uuid }
  return (
    <>
      {error && <Failure error={error} what="The draft could not be checked" onRetry={refetch} />}
      {data && data.conflicts.length > 0 && <LiveChanges {...place} conflicts={data.conflicts} onResolve={onResolve} />}
      {broken.length > 0 && (
        <>
          <Notice tone="red">
            <strong>The draft cannot be published.</strong> These prompts have errors.
          </Notice>
          <BrokenPrompts {...place} prompts={broken.slice(0, mostShown)} />
          {broken.length > mostShown && (
            <details>
              <summary>{counted(broken.length - mostShown, 'more prompt')}</summary>
              <BrokenPrompts {...place} prompts={broken.slice(mostShown)} />
            </details>
          )}
        </>
      )}
    </>
  )
}

interface BrokenProps {
  projectId: number
  versionUuid: string
  prompts: readonly BrokenPrompt[]
}

/** Prompts with their errors, each with a link to its line. */
function BrokenPrompts({ projectId, versionUuid, prompts }: BrokenProps) {
  return (
    <ul>
      {prompts.map(({ path, findings }) => (
        <li key={path} className={css['document']}>
          <span className={css['path']}>{path}</span>
          {findings.map(({ message, line, column, in: at = path }) => (
            <Link
              key={`${at}:${line}:${column}:${message}`}
              {...toPrompt(projectId, versionUuid, at)}
              search={{ line }}
            >
              {at !== path && `${at}, `}Line {line}: {message}
            </Link>
          ))}
        </li>
      ))}
    </ul>
  )
}
