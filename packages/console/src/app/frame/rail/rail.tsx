import { Link, useLocation } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Icon } from '../../../ui/icon.tsx'
import { Wordmark } from '../../../ui/mark.tsx'
import { ProjectSwitch } from '../switches/project-switch.tsx'
import { UserSwitch } from '../switches/user-switch.tsx'
import { usePlaces } from './places.ts'
import css from './rail.module.css'

/** The project, the places to go, and the person. On narrow screens it is a bar at the bottom. */
export function Rail({ children }: { children: ReactNode }) {
  const { pathname } = useLocation()
  const places = usePlaces().filter(({ blocked }) => !blocked)
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
        {places.map(({ name, icon, keys: _, start, blocked: __, ...address }) => (
          <Link
            key={name}
            {...address}
            className={css['link']}
            title={name}
            {...(start && pathname.startsWith(start) && { 'data-status': 'active', 'aria-current': 'page' })}
          >
            <Icon name={icon} /> <span className={css['text']}>{name}</span>
          </Link>
        ))}
      </nav>
      <UserSwitch />
    </header>
  )
}
