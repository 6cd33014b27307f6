/** The page at an address that names nothing. */

import { getRouteApi, Link, Outlet } from '@tanstack/react-router'
import { type ReactNode, Suspense } from 'react'
import { buttonClass } from '../../ui/button.tsx'
import { toPrompts } from '../addresses.ts'
import { Failure } from '../failure.tsx'
import { useHoldsText } from '../unsaved.ts'
import css from './frame.module.css'
import { RestoreDraft } from './lines/deleted-draft.tsx'
import { projectIdOf, useDeletedDraft, useIsUnknownProject, useIsUnknownVersion } from './place.ts'

const projectRoute = getRouteApi('/shell/p/$project')
const versionRoute = getRouteApi('/shell/p/$project/v/$version')

/** A message in place of a screen. */
export function Alone({ title, heading, children }: { title: string; heading: string; children?: ReactNode }) {
  return (
    <div className={css['alone']}>
      <title>{`${title} · stet`}</title>
      <h1 className={css['aloneTitle']} tabIndex={-1}>
        {heading}
      </h1>
      {children}
    </div>
  )
}

export function NoPage() {
  return (
    <Alone title="No such page" heading="There is no page at this address">
      <ConsoleLink />
    </Alone>
  )
}

/** The screens of a project, if the project exists. */
export function KnownProject() {
  const { project } = projectRoute.useParams()
  if (!useIsUnknownProject(projectIdOf(project))) return <Outlet />
  return (
    <Alone title="No such project" heading="There is no project at this address">
      <ConsoleLink />
    </Alone>
  )
}

/**
 * The screens of a version, if the version exists, or while one of them has text that is not saved.
 *
 * @param kept what the browser keeps of an unknown version
 */
export function KnownVersion({ kept }: { kept: ReactNode }) {
  const { project, version } = versionRoute.useParams()
  const isUnknown = useIsUnknownVersion(Number(project), version)
  const { data: deleted, error, isFetching, refetch } = useDeletedDraft(Number(project), version, isUnknown)
  const holdsText = useHoldsText(Number(project), version)
  if (!isUnknown || holdsText) return <Outlet />
  if (!deleted && isFetching) return null
  const [title, heading] = deleted
    ? ['Deleted draft', `The draft “${deleted.title}” was deleted`]
    : error
      ? ['Version not loaded', 'The version could not be loaded']
      : ['No such version', 'This project has no version at this address']
  return (
    <Alone title={title} heading={heading}>
      {deleted && <RestoreDraft draft={deleted} />}
      {!deleted && error && <Failure error={error} what="The deleted drafts could not be loaded" onRetry={refetch} />}
      <Suspense fallback={null}>{kept}</Suspense>
      <Link {...toPrompts(project, 'live')} className={buttonClass()}>
        Open the live version
      </Link>
      <Link to="/p/$project/history" params={{ project }}>
        Find a version in the history
      </Link>
    </Alone>
  )
}

function ConsoleLink() {
  return (
    <Link to="/" className={buttonClass()}>
      Open the console
    </Link>
  )
}
