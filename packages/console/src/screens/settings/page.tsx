import { getRouteApi, Link } from '@tanstack/react-router'
import { lazy } from 'react'
import { Screen, ScreenTitle } from '../../ui/screen.tsx'
import { Empty } from '../../ui/states.tsx'
import { linkTabs } from '../../ui/table.tsx'
import { AdminOnly, useIsAdmin } from './admin-only.tsx'

const route = getRouteApi('/shell/settings/$page')

const pages = [
  { name: 'keys', title: 'Keys', isForAdmins: true, Page: lazy(() => import('./keys/page.tsx')) },
  { name: 'people', title: 'People', isForAdmins: true, Page: lazy(() => import('./people/page.tsx')) },
  { name: 'providers', title: 'Providers', isForAdmins: true, Page: lazy(() => import('./providers/page.tsx')) },
  { name: 'sessions', title: 'Sessions', Page: lazy(() => import('./sessions.tsx')) },
  { name: 'about', title: 'About', Page: lazy(() => import('./about.tsx')) },
]

/** The settings of the workspace and of the user's own sessions. */
export function SettingsPage() {
  const { page } = route.useParams({ shouldThrow: false }) ?? {}
  const shown = pages.find(({ name }) => name === page)
  const isAdmin = useIsAdmin()
  return (
    <Screen narrow>
      <title>{`${shown?.title ?? 'Settings'} · stet`}</title>
      <ScreenTitle>{shown?.title ?? 'Settings'}</ScreenTitle>
      <nav className={linkTabs.list} aria-label="Settings">
        {pages.map(({ name, title }) => (
          <Link key={name} to="/settings/$page" params={{ page: name }} className={linkTabs.link}>
            {title}
          </Link>
        ))}
      </nav>
      {!shown && <Empty line="There is no such page of settings." />}
      {shown?.isForAdmins && !isAdmin && <AdminOnly what={shown.name} />}
      {shown && (!shown.isForAdmins || isAdmin) && <shown.Page />}
    </Screen>
  )
}
