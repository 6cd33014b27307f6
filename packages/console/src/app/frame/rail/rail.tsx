import { Link, useLocation } from '@tanstack/react-router'
import { Icon } from '../../../ui/icon.tsx'
import { Wordmark } from '../../../ui/mark.tsx'
import { useProjectId, useVersion } from '../place.ts'
import { ProjectSwitch } from '../switches/project-switch.tsx'
import { UserSwitch } from '../switches/user-switch.tsx'
import css from './rail.module.css'

/** The project, the places to go, and the person. On narrow screens it is a bar at the bottom. */
export function Rail() {
  const projectId = useProjectId()
  const version = useVersion()
  const project = String(projectId)
  const isInSettings = useLocation().pathname.startsWith('/settings/')
  return (
    <header className={css['rail']}>
      <Link to="/" className={css['brand']} aria-label="stet, home">
        <Wordmark />
      </Link>
      <div className={css['railProject']}>
        <ProjectSwitch />
      </div>
      <nav className={css['nav']} aria-label="Places">
        {projectId !== null && (
          <>
            <Link to="/p/$project/v/$version/prompts" params={{ project, version }} className={css['link']}>
              <Icon name="prompts" /> Prompts
            </Link>
            <Link to="/p/$project/history" params={{ project }} className={css['link']}>
              <Icon name="history" /> History
            </Link>
          </>
        )}
        {/* The address of a page, because the server has none for all settings. */}
        <Link
          to="/settings/$page"
          params={{ page: 'keys' }}
          className={css['link']}
          {...(isInSettings && { 'data-status': 'active', 'aria-current': 'page' })}
        >
          <Icon name="settings" /> Settings
        </Link>
      </nav>
      <UserSwitch />
    </header>
  )
}
