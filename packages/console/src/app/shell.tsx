import { useQuery } from '@tanstack/react-query'
import { Outlet, useLocation, useNavigate, useParams } from '@tanstack/react-router'
import { lazy, type MouseEvent, type RefObject, Suspense, useEffect, useRef, useState } from 'react'
import { Skeleton } from '../ui/states.tsx'
import { BarSlot } from './bar-actions.tsx'
import { Failure } from './failure.tsx'
import css from './frame/frame.module.css'
import { Lines } from './frame/lines/lines.tsx'
import { listenForUpgrade, noticeUpgrade } from './frame/lines/upgrade.ts'
import { Overlays, openOverlay } from './frame/overlays.tsx'
import { projectIdOf, useProjectId, useVersion } from './frame/place.ts'
import { Rail } from './frame/rail/rail.tsx'
import { useKeptFocus, useTitleFocus } from './frame/title-focus.ts'
import { TopBar } from './frame/top-bar.tsx'
import { preferences, setPreferences, usePreferences } from './preferences.ts'
import { useKeptRecents } from './recents.ts'
import { isSignedOut, sessionQuery, useBlocked, useSession } from './session.ts'
import { listenForKeys, useShortcuts } from './shortcuts.ts'

const GuideStrip = lazy(() => import('./frame/guide/guide.tsx'))

/** The frame of every screen. Without a session it leads to the sign-in screen, and back after it. */
export function Shell() {
  const { data: session, error, refetch } = useQuery(sessionQuery)
  const navigate = useNavigate()
  const { href, pathname } = useLocation()
  // The frame is still shown for a moment after the address has changed.
  const isTurnedAway = !session && isSignedOut(error) && pathname !== '/sign-in'
  useEffect(() => {
    if (isTurnedAway) void navigate({ to: '/sign-in', search: href === '/' ? {} : { to: href }, replace: true })
  }, [isTurnedAway, href, navigate])
  useEffect(listenForUpgrade, [])
  if (session) return <Frame serverVersion={session.version} />
  return (
    <main className={css['alone']}>
      {error && !isTurnedAway ? (
        <Failure error={error} what="The console could not be opened" onRetry={refetch} />
      ) : (
        <Skeleton />
      )}
    </main>
  )
}

function Frame({ serverVersion }: { serverVersion: string }) {
  const [slot, setSlot] = useState<HTMLElement | null>(null)
  const main = useRef<HTMLElement>(null)
  const [loadedVersion] = useState(serverVersion)
  useEffect(() => {
    if (serverVersion !== loadedVersion) noticeUpgrade()
  }, [serverVersion, loadedVersion])
  useEffect(listenForKeys, [])
  useFrameShortcuts()
  useKeptPlace()
  useKeptRecents()
  useTitleFocus(main)
  useKeptFocus(main)
  return (
    <div className={css['shell']}>
      <Rail>
        <SkipLink to={main} />
      </Rail>
      <main ref={main} className={css['main']}>
        <Lines />
        <TopBar slot={setSlot} />
        <FirstSteps />
        <BarSlot value={slot}>
          <div className={css['screen']} data-screen>
            <Outlet />
          </div>
        </BarSlot>
      </main>
      <Overlays />
    </div>
  )
}

/** The first stop of Tab. */
function SkipLink({ to: main }: { to: RefObject<HTMLElement | null> }) {
  const skip = (event: MouseEvent) => {
    event.preventDefault()
    main.current?.querySelector<HTMLElement>('h1')?.focus()
  }
  return (
    <a className="skip" href={location.href} onClick={skip}>
      Skip to the content
    </a>
  )
}

/** The steps after the first prompt, in its project. */
function FirstSteps() {
  const { guide } = usePreferences()
  const { project } = useParams({ strict: false })
  const { author } = useSession().apiKey
  if (!guide || String(guide.project) !== project || guide.author !== author.id) return null
  return (
    <Suspense>
      <GuideStrip guide={guide} />
    </Suspense>
  )
}

function useFrameShortcuts(): void {
  const navigate = useNavigate()
  const projectId = useProjectId()
  const version = useVersion()
  const project = String(projectId)
  const group = 'Everywhere'
  const needsWrite = useBlocked('write')
  const isRestricted = useSession().apiKey.projectId !== null
  const needsProject = projectId === null && 'open a project first'
  useShortcuts([
    { keys: 'mod+k', label: 'Find anything', group, inPalette: false, run: () => openOverlay('palette') },
    { keys: '?', label: 'Show all keyboard shortcuts', group, run: () => openOverlay('keys') },
    {
      keys: 'g p',
      label: 'Go to prompts',
      group,
      blocked: needsProject,
      run: () => void navigate({ to: '/p/$project/v/$version/prompts', params: { project, version } }),
    },
    {
      keys: 'g h',
      label: 'Go to history',
      group,
      blocked: needsProject,
      run: () => void navigate({ to: '/p/$project/history', params: { project } }),
    },
    {
      keys: 'g o',
      label: 'Go to the overview',
      group,
      blocked: needsProject,
      run: () => void navigate({ to: '/p/$project/overview', params: { project } }),
    },
    {
      keys: 'g 0',
      label: 'Go to the home screen',
      group,
      run: () => void navigate({ to: '/', state: { isHomeWanted: true } }),
    },
    {
      keys: 'g r',
      label: 'Go to runs',
      group,
      blocked: needsProject,
      run: () => void navigate({ to: '/p/$project/runs', params: { project } }),
    },
    {
      keys: 'g s',
      label: 'Go to settings',
      group,
      run: () => void navigate({ to: '/settings/$page', params: { page: 'keys' } }),
    },
    { label: 'New draft', group, blocked: needsProject || needsWrite, run: () => openOverlay('new-draft') },
    {
      label: 'New project',
      group,
      blocked: isRestricted ? 'your key is for one project only' : needsWrite,
      run: () => openOverlay('new-project'),
    },
  ])
}

/** `/` opens the person's project again, in the same draft. */
function useKeptPlace(): void {
  const { project, version } = useParams({ strict: false })
  const { id } = useSession().apiKey.author
  useEffect(() => {
    const { places } = preferences()
    if (project && projectIdOf(project) !== null)
      setPreferences({ places: { ...places, [id]: { project, version: version ?? places[id]?.version ?? 'live' } } })
  }, [project, version, id])
}
