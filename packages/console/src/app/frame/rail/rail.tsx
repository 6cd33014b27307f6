import { Link, useLocation } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Icon } from '../../../ui/icon.tsx'
import { Wordmark } from '../../../ui/mark.tsx'
import { useProjectId, useVersion } from '../place.ts'
import { ProjectSwitch } from '../switches/project-switch.tsx'
import { UserSwitch } from '../switches/user-switch.tsx'
import css from './rail.module.css'

/** The project, the places to go, and the person. On narrow screens it is a bar at the bottom. */
export function Rail({ children }: { children: ReactNode }) {
  const projectId = useProjectId()
  const version = useVersion()
  const project = String(projectId)
  const { pathname } = useLocation()
  const isInSettings = pathname.startsWith('/settings/')
  const isOnRun = pathname.startsWith('/runs/')
  return (
    <header className={css['rail']}>
      {children}
      <Link to="/" state={{ isHomeWanted: true }} className={css['brand']} aria-label="stet, home">
        <Wordmark />
      </Link>
      <div className={css['railProject']}>
        <ProjectSwitch />
      </div>
      <nav className={css['nav']} aria-label="Places">
        {projectId !== null && (
          <>
            <Link
              to="/p/$project/v/$version/prompts"
              params={{ project, version }}
              className={css['link']}
              title="Prompts"
            >
              <Icon name="prompts" /> <span className={css['text']}>Prompts</span>
            </Link>
            <Link to="/p/$project/overview" params={{ project }} className={css['link']} title="Overview">
              <Icon name="overview" /> <span className={css['text']}>Overview</span>
            </Link>
            <Link
              to="/p/$project/runs"
              params={{ project }}
              className={css['link']}
              title="Runs"
              {...(isOnRun && { 'data-status': 'active', 'aria-current': 'page' })}
            >
              <Icon name="run" /> <span className={css['text']}>Runs</span>
            </Link>
            <Link to="/p/$project/history" params={{ project }} className={css['link']} title="History">
              <Icon name="history" /> <span className={css['text']}>History</span>
            </Link>
          </>
        )}
        {/* The address of a page, because the server has none for all settings. */}
        <Link
          to="/settings/$page"
          params={{ page: 'keys' }}
          className={css['link']}
          title="Settings"
          {...(isInSettings && { 'data-status': 'active', 'aria-current': 'page' })}
        >
          <Icon name="settings" /> <span className={css['text']}>Settings</span>
        </Link>
      </nav>
      <UserSwitch />
    </header>
  )
}
