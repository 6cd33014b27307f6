/** The screens of a project and of a version, or what to do if the address names one that does not exist. */
import { getRouteApi, Link, Outlet } from '@tanstack/react-router'
import { buttonClass } from '../../ui/button.tsx'
import css from './frame.module.css'
import { projectIdOf, useIsUnknownProject, useIsUnknownVersion } from './place.ts'

const projectRoute = getRouteApi('/shell/p/$project')
const versionRoute = getRouteApi('/shell/p/$project/v/$version')

export function KnownProject() {
  const { project } = projectRoute.useParams()
  if (!useIsUnknownProject(projectIdOf(project))) return <Outlet />
  return (
    <div className={css['alone']}>
      <title>No such project · stet</title>
      <h1 className={css['aloneTitle']} tabIndex={-1}>
        There is no project at this address
      </h1>
      <Link to="/" className={buttonClass()}>
        Open the console
      </Link>
    </div>
  )
}

export function KnownVersion() {
  const { project, version } = versionRoute.useParams()
  if (!useIsUnknownVersion(Number(project), version)) return <Outlet />
  return (
    <div className={css['alone']}>
      <title>No such version · stet</title>
      <h1 className={css['aloneTitle']} tabIndex={-1}>
        This project has no version at this address
      </h1>
      <Link to="/p/$project/v/$version/prompts" params={{ project, version: 'live' }} className={buttonClass()}>
        Open the live version
      </Link>
      <Link to="/p/$project/history" params={{ project }}>
        Find a version in the history
      </Link>
    </div>
  )
}
