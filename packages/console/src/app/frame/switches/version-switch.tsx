import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { lazy } from 'react'
import { Hidden, join } from '../../../ui/button.tsx'
import { DeferredMenu } from '../../../ui/deferred.tsx'
import { Icon } from '../../../ui/icon.tsx'
import { Live } from '../../../ui/mark.tsx'
import { versionsQuery } from '../../queries.ts'
import css from '../frame.module.css'
import { useIsUnknownVersion } from '../place.ts'

const load = () => import('./version-menu.tsx')
const VersionMenu = lazy(load)

/** Shows the version whose prompts the screen shows, and opens the list of versions. */
export function VersionSwitch({ projectId, version }: { projectId: number; version: string }) {
  const { data } = useQuery(versionsQuery(projectId))
  const shown = data?.find(({ uuid, isLive }) => (version === 'live' ? isLive : uuid === version))
  const isDraft = shown?.status === 'draft'
  const isUnknown = useIsUnknownVersion(projectId, version)
  return (
    <>
      <DeferredMenu
        load={load}
        trigger={
          <button type="button" className={css['switch']} title={shown?.title}>
            <Hidden>Version: </Hidden>
            {isDraft && <Icon name="draft" size={14} />}
            <span className={css['switchText']}>
              {isDraft ? (
                shown.title
              ) : shown && !shown.isLive ? (
                `v${shown.version}`
              ) : isUnknown ? (
                'Unknown version'
              ) : !shown && version !== 'live' ? (
                'Version'
              ) : (
                <LiveName number={shown?.version} />
              )}
            </span>
            <Icon name="updown" size={14} />
          </button>
        }
      >
        {(trigger) => <VersionMenu trigger={trigger} projectId={projectId} version={version} />}
      </DeferredMenu>
      {isDraft && <ChangesLink changeCount={shown.changeCount} />}
    </>
  )
}

function LiveName({ number }: { number: number | null | undefined }) {
  return (
    <>
      <Live>Live</Live>
      {number && ` v${number}`}
    </>
  )
}

function ChangesLink({ changeCount }: { changeCount: number }) {
  const { project, version } = useParams({ strict: false })
  if (!project || !version) return null
  return (
    <Link to="/p/$project/v/$version/changes" params={{ project, version }} className={css['changes']}>
      <span>Changes</span>
      <span className={join(css['count'], changeCount === 0 && css['countNone'])}>{changeCount}</span>
    </Link>
  )
}
